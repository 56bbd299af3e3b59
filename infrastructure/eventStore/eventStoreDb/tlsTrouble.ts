// Why a node cannot be reached over TLS. gRPC says only that it cannot: a handshake of our own, once that has happened, says why.
import { isIP } from 'node:net';
import { connect } from 'node:tls';
import type { ConnectionSettings } from './connectionString.ts';
import type { Endpoint } from './failures.ts';

type Tls = NonNullable<ConnectionSettings['tls']>;
type TlsError = Error & { readonly code?: string; readonly cert?: { readonly subjectaltname?: string } };

const PROBE_MS = 500;
const UNKNOWN_AUTHORITY =
  /^(DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_VERIFY_LEAF_SIGNATURE|UNABLE_TO_GET_ISSUER_CERT(_LOCALLY)?)$/;
/** A server that speaks HTTP answers a handshake with what is none. */
const NO_TLS = /^(EPROTO|ERR_SSL_WRONG_VERSION_NUMBER|ERR_SSL_PACKET_LENGTH_TOO_LONG)$/;

const meaningOf = ({ code = '', cert }: TlsError, { address }: Endpoint, { ca }: Tls): string | null => {
  if (UNKNOWN_AUTHORITY.test(code))
    return ca === null
      ? 'its certificate is of an authority that is not known here: name it with tlsCAFile=… in the connection string'
      : 'its certificate is not of the authority in tlsCAFile';
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID')
    return `its certificate is not for ${address} but for ${cert?.subjectaltname ?? 'another name'}: put such a name into the connection string`;
  if (code === 'CERT_HAS_EXPIRED') return 'its certificate has expired';
  if (code === 'CERT_NOT_YET_VALID') return 'its certificate is not valid yet';
  if (NO_TLS.test(code)) return 'it does not speak TLS: with tls=false in the connection string it is not asked to';
  return null;
};

/** null: the handshake succeeds, or nobody is there. At most 500 ms; never rejects. */
export const tlsTrouble = (endpoint: Endpoint, tls: Tls): Promise<string | null> =>
  new Promise((resolve) => {
    const { address: host, port } = endpoint;
    const socket = connect({
      host,
      port,
      ALPNProtocols: ['h2'],
      ...(isIP(host) === 0 && { servername: host }),
      ...(tls.ca !== null && { ca: tls.ca }),
      ...(tls.key !== null && tls.cert !== null && { key: tls.key, cert: tls.cert }),
    });
    const end = (trouble: string | null): void => {
      clearTimeout(timer);
      socket.destroy();
      resolve(trouble);
    };
    const timer = setTimeout(() => end(null), PROBE_MS);
    socket.once('secureConnect', () => end(null));
    socket.on('error', (error: TlsError) => end(meaningOf(error, endpoint, tls)));
  });
