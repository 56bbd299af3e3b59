// The fields of a connection's forms. The texts name each of them.

export const LINES = ['name', 'baseUrl', 'tokenUrl', 'clientId', 'pixKey', 'accountId', 'order'] as const;
export const BLOCKS = ['certificate', 'privateKey', 'ca'] as const;
export const FLAGS = ['requireClientCertificate', 'allowPrivate', 'noCertificate', 'noCa'] as const;
export const CONNECTION_FIELDS = ['preset', 'clientSecret', ...LINES, ...BLOCKS, ...FLAGS] as const;
export type ConnectionField = (typeof CONNECTION_FIELDS)[number];
