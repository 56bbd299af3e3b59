// A real EventStoreDB for the conformance suite, soaks and benches, selected by the environment. It must not contain valuable data.
//   TEST_EVENTSTORE_URL  esdb://host:2113?tls=true, one node; if unset, the test server is used
//   TEST_EVENTSTORE_CA_FILE  PEM of the authority of its certificate
//   TEST_EVENTSTORE_USERNAME  and TEST_EVENTSTORE_PASSWORD: an administrator, for $all
type Environment = Readonly<Record<string, string | undefined>>;

const withUser = (url: URL, username: string, password: string): URL => {
  const full = new URL(url);
  full.username = encodeURIComponent(username);
  full.password = encodeURIComponent(password);
  return full;
};

/** Returns its connection string, or null if none is configured. Throws if the configuration is incomplete. */
export const givenEventStoreDb = (env: Environment = process.env): string | null => {
  const [url, caFile, username, password] = ['URL', 'CA_FILE', 'USERNAME', 'PASSWORD'].map(
    (name) => env[`TEST_EVENTSTORE_${name}`] || null,
  );
  if (!url) return null;
  if (!username !== !password) throw new Error('TEST_EVENTSTORE_USERNAME and TEST_EVENTSTORE_PASSWORD go together');
  const text = username && password ? withUser(new URL(url), username, password).href : url;
  return caFile ? `${text}${text.includes('?') ? '&' : '?'}tlsCAFile=${encodeURIComponent(caFile)}` : text;
};

const LOOPBACK = /^(localhost|127\.0\.0\.1)$/;

/**
 * Returns the connection string through a proxy on a port of this machine. A name of this machine is kept, because the certificate is
 * issued for it. The certificate of a remote server must also be valid for 127.0.0.1.
 */
export const throughPort = (connectionString: string, port: number): string => {
  const { hostname, host } = new URL(connectionString);
  return connectionString.replace(host, `${LOOPBACK.test(hostname) ? hostname : '127.0.0.1'}:${port}`);
};
