// The stored secrets of a connection, by kind and version. The secrets themselves are sealed in a table, apart from the events.
import type { SecretVersions } from './aggregate.ts';

export type SecretKind = 'client' | 'privateKey' | 'callback';

export interface StoredSecret {
  readonly kind: SecretKind;
  readonly version: number;
}

const VERSION_OF = {
  client: 'clientSecretVersion',
  privateKey: 'privateKeyVersion',
  callback: 'callbackSecretVersion',
} as const;

/** Returns the current secrets of a connection. */
export const currentSecrets = (versions: SecretVersions): readonly StoredSecret[] =>
  (Object.keys(VERSION_OF) as SecretKind[])
    .map((kind) => ({ kind, version: versions[VERSION_OF[kind]] }))
    .filter(({ version }) => version > 0);

/** Returns the current secrets that are not stored, such as after a partial restore. */
export const missingSecrets = (versions: SecretVersions, stored: readonly StoredSecret[]): readonly SecretKind[] =>
  currentSecrets(versions)
    .filter((one) => !stored.some(({ kind, version }) => kind === one.kind && version === one.version))
    .map(({ kind }) => kind);

export const SECRET_NAMES: { readonly [K in SecretKind]: string } = {
  client: 'client secret',
  privateKey: 'private key',
  callback: 'callback secret',
};

const REMEDIES: { readonly [K in SecretKind]: string } = {
  client: 'provider rotate-client-secret',
  privateKey: 'provider set --certificate --private-key',
  callback: 'provider rotate-callback-secret',
};

/** Returns what is missing, and the commands that store it again, as the end of a sentence about the connection. */
export const missingText = (kinds: readonly SecretKind[]): string =>
  `has no stored ${kinds.map((kind) => SECRET_NAMES[kind]).join(', ')}: ${kinds.map((kind) => REMEDIES[kind]).join(', ')}`;
