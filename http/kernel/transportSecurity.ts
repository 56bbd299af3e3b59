// HSTS (RFC 6797): where the public URL is https, browsers never use http for this host. Other hosts of the domain may lack https.

const ONE_YEAR_SECONDS = 31_536_000;

/** Returns the headers of every answer; none where the public URL is not https. */
export const transportSecurity = (publicUrl: string): Readonly<Record<string, string>> =>
  publicUrl.startsWith('https:') ? { 'Strict-Transport-Security': `max-age=${ONE_YEAR_SECONDS}` } : {};
