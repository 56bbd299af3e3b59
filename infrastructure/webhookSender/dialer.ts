// Opens sockets: resolves the name, checks the addresses, connects only to checked addresses, and verifies TLS for the requested name. A
// kept-alive connection needs no second check, because its peer is an address that passed.
import { isIP, connect as netConnect, type Socket, type TcpNetConnectOpts } from 'node:net';
import { type ConnectionOptions, type SecureContext, connect as tlsConnect } from 'node:tls';
import type { buildConnector } from 'undici';
import { mayDial } from './addressPolicy.ts';
import { AttemptFailure, dialFailure, errorCode } from './failure.ts';
import type { AddressResolver } from './resolver.ts';

interface DialerOptions {
  readonly resolver: AddressResolver;
  readonly privateAllowed: boolean;
  /** Deadline for DNS, TCP and TLS together. */
  readonly deadlineMs: number;
  /** The client certificate for mTLS, and the authorities that are trusted. */
  readonly secureContext?: SecureContext;
}

interface Dialer {
  readonly connect: buildConnector.connector;
  /** Cancels connections that are being opened. Open sockets belong to the agent. */
  close(): void;
}

/** At most this many addresses of a name are tried. */
const MAX_ADDRESSES = 8;
/** How long one address is tried while there is another (RFC 8305 §5; generous, for receivers far away). */
const ADDRESS_TIMEOUT_MS = 2_000;
const TCP_KEEPALIVE_MS = 60_000;

type Done = (error: AttemptFailure | null, socket: Socket | null) => void;
type Endpoint = Pick<buildConnector.Options, 'hostname' | 'port' | 'protocol'>;

export function openDialer(options: DialerOptions): Dialer {
  const dialling = new Set<AbortController>();
  return {
    connect(endpoint, callback) {
      const dial = new AbortController();
      const timer = setTimeout(
        () => dial.abort(new AttemptFailure('timeout', `no connection within ${options.deadlineMs} ms`)),
        options.deadlineMs,
      );
      dialling.add(dial);
      const done: Done = (error, socket) => {
        if (!dialling.delete(dial)) return;
        clearTimeout(timer);
        if (socket !== null) callback(null, socket);
        else callback(error ?? new AttemptFailure('connection', 'no socket'), null);
      };
      dial.signal.addEventListener('abort', () => done(dial.signal.reason, null), { once: true });
      checkedAddresses(endpoint.hostname, options).then(
        (addresses) => {
          if (!dial.signal.aborted) openSocket(endpoint, addresses, options.secureContext, dial.signal, done);
        },
        (error: unknown) => done(dialFailure(error, false), null),
      );
    },
    close() {
      for (const dial of dialling) dial.abort(new AttemptFailure('connection', 'the sender is closed'));
    },
  };
}

/** Returns the permitted addresses of a host, at least one. Rejects with `dns` or `blocked`. */
export async function checkedAddresses(
  hostname: string,
  { resolver, privateAllowed }: Pick<DialerOptions, 'resolver' | 'privateAllowed'>,
): Promise<readonly string[]> {
  const addresses = isIP(hostname) === 0 ? await resolveName(canonicalName(hostname), resolver) : [hostname];
  const allowed = addresses.filter((address) => mayDial(address, privateAllowed)).slice(0, MAX_ADDRESSES);
  // The message omits the address, because the name may have been resolved inside the platform's network.
  if (allowed.length === 0) throw new AttemptFailure('blocked', `${hostname} has no address that deliveries may go to`);
  return allowed;
}

async function resolveName(name: string, resolver: AddressResolver): Promise<readonly string[]> {
  try {
    const addresses = await resolver.resolve(name);
    if (addresses.length > 0) return addresses;
  } catch (error) {
    throw new AttemptFailure('dns', `${errorCode(error) || 'failed'} ${name}`);
  }
  throw new AttemptFailure('dns', `ENODATA ${name}`);
}

const canonicalName = (hostname: string): string => hostname.toLowerCase().replace(/\.$/, '');

function openSocket(
  endpoint: Endpoint,
  addresses: readonly string[],
  secureContext: SecureContext | undefined,
  signal: AbortSignal,
  done: Done,
): void {
  const secure = endpoint.protocol === 'https:';
  const where = dialTo(addresses, Number(endpoint.port) || (secure ? 443 : 80));
  const socket = secure
    ? tlsConnect({ ...where, ...tlsIdentity(endpoint.hostname), ...(secureContext && { secureContext }) })
    : netConnect(where);
  let handshaking = false;
  const abort = () => socket.destroy();
  signal.addEventListener('abort', abort, { once: true });
  socket.setNoDelay(true).setKeepAlive(true, TCP_KEEPALIVE_MS);
  socket.once('connect', () => {
    handshaking = secure;
  });
  socket.once(secure ? 'secureConnect' : 'connect', () => {
    signal.removeEventListener('abort', abort);
    done(null, socket);
  });
  // The handler stays for the socket's lifetime, so that an error between two owners does not end the process.
  socket.on('error', (error) => {
    signal.removeEventListener('abort', abort);
    done(dialFailure(error, handshaking), null);
  });
}

/** One address is used directly. Several are passed to Node's own race (RFC 8305), which can use only these. */
function dialTo(addresses: readonly string[], port: number): TcpNetConnectOpts {
  const [only = ''] = addresses;
  if (addresses.length === 1) return { host: only, port };
  const checked = addresses.map((address) => ({ address, family: isIP(address) }));
  return {
    host: 'checked.invalid',
    port,
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: ADDRESS_TIMEOUT_MS,
    lookup: (_name, _options, callback) => callback(null, checked),
  };
}

/** Certificates are always verified, independent of NODE_TLS_REJECT_UNAUTHORIZED. */
function tlsIdentity(hostname: string): ConnectionOptions {
  const rules: ConnectionOptions = { rejectUnauthorized: true, ALPNProtocols: ['http/1.1'] };
  // An address is not a server name (RFC 6066 §3). Node then compares the certificate with the address.
  return isIP(hostname) === 0 ? { ...rules, servername: canonicalName(hostname) } : rules;
}
