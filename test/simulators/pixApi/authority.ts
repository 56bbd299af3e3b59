// Makes a certificate authority for the simulator, with a certificate for the server on loopback and one for clients. X.509 in DER (RFC
// 5280), with Node alone.
import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';

/** All values are in PEM. */
export interface Authority {
  readonly ca: string;
  readonly serverCertificate: string;
  readonly serverKey: string;
  readonly clientCertificate: string;
  readonly clientKey: string;
}

// --- DER: tag, length, content ---

const der = (tag: number, ...contents: readonly Buffer[]): Buffer => {
  const content = Buffer.concat(contents);
  const size = content.length;
  const length = size < 0x80 ? [size] : size < 0x100 ? [0x81, size] : [0x82, size >>> 8, size & 0xff];
  return Buffer.concat([Buffer.from([tag, ...length]), content]);
};
const sequence = (...contents: readonly Buffer[]): Buffer => der(0x30, ...contents);
const octets = (content: Buffer): Buffer => der(0x04, content);
const TRUE = der(0x01, Buffer.from([0xff]));
/** `encoded` is the content of the object identifier, in hexadecimal. */
const oid = (encoded: string): Buffer => der(0x06, Buffer.from(encoded, 'hex'));
const bits = (content: Buffer, unused = 0): Buffer => der(0x03, Buffer.from([unused]), content);
const tagged = (tag: number, ...contents: readonly Buffer[]): Buffer => der(0xa0 | tag, ...contents);

const COMMON_NAME = oid('550403');
const ECDSA_SHA256 = sequence(oid('2a8648ce3d040302'));

const nameOf = (text: string): Buffer => sequence(der(0x31, sequence(COMMON_NAME, der(0x0c, Buffer.from(text)))));
const generalizedTime = (text: string): Buffer => der(0x18, Buffer.from(text));
/** From 2020 to 2120 unless a test asks for an earlier end, so that every clock is within the period. */
const FROM = '20200101000000Z';
const UNTIL = '21200101000000Z';
const derTime = (at: Date): string => `${at.toISOString().slice(0, 19).replaceAll(/[-T:]/g, '')}Z`;

const extension = (id: string, isCritical: boolean, value: Buffer): Buffer =>
  sequence(oid(id), ...(isCritical ? [TRUE] : []), octets(value));
const SERVER_AUTH = oid('2b06010505070301');
const CLIENT_AUTH = oid('2b06010505070302');
/** Loopback, and further names by which tests reach the server. */
const subjectNames = (hostNames: readonly string[]): Buffer =>
  sequence(
    ...['localhost', ...hostNames].map((name) => der(0x82, Buffer.from(name))),
    der(0x87, Buffer.from([127, 0, 0, 1])),
    der(0x87, Buffer.from([...new Array<number>(15).fill(0), 1])),
  );
const CA_EXTENSIONS = [
  extension('551d13', true, sequence(TRUE)), // basicConstraints: a CA
  extension('551d0f', true, bits(Buffer.from([0b0000_0110]), 1)), // keyUsage: certificates and revocation lists
];
const serverExtensions = (hostNames: readonly string[]): readonly Buffer[] => [
  extension('551d25', false, sequence(SERVER_AUTH)),
  extension('551d11', false, subjectNames(hostNames)),
];
const CLIENT_EXTENSIONS = [extension('551d25', false, sequence(CLIENT_AUTH))];

// --- Certificates ---

interface KeyPair {
  readonly publicKey: KeyObject;
  readonly privateKey: KeyObject;
}
const keyPair = (): KeyPair => generateKeyPairSync('ec', { namedCurve: 'P-256' });

const publicDer = ({ publicKey }: KeyPair): Buffer => publicKey.export({ type: 'spki', format: 'der' });
/** RFC 5280, 4.2.1.2: the SHA-1 hash of the key’s bits, which are the last 65 bytes of a P-256 key in DER. */
const keyId = (keys: KeyPair): Buffer => createHash('sha1').update(publicDer(keys).subarray(-65)).digest();

const pem = (certificate: Buffer): string =>
  `-----BEGIN CERTIFICATE-----\n${(certificate.toString('base64').match(/.{1,64}/g) ?? []).join('\n')}\n-----END CERTIFICATE-----\n`;

interface Wanted {
  readonly extensions: readonly Buffer[];
  readonly name: string;
  readonly keys: KeyPair;
  readonly until?: string;
}
const CA_NAME = 'Quita simulator authority';

const certificateOf = ({ extensions, name, keys, until = UNTIL }: Wanted, issuer: KeyPair): string => {
  const serial = randomBytes(16);
  serial[0] = 0x40 | ((serial[0] as number) & 0x3f); // positive, without a leading zero
  const body = sequence(
    tagged(0, der(0x02, Buffer.from([2]))), // version 3
    der(0x02, serial),
    ECDSA_SHA256,
    nameOf(CA_NAME),
    sequence(generalizedTime(FROM), generalizedTime(until)),
    nameOf(name),
    publicDer(keys),
    tagged(
      3,
      sequence(
        ...extensions,
        extension('551d0e', false, octets(keyId(keys))), // subjectKeyIdentifier
        extension('551d23', false, sequence(der(0x80, keyId(issuer)))), // authorityKeyIdentifier
      ),
    ),
  );
  return pem(sequence(body, ECDSA_SHA256, bits(sign('sha256', body, issuer.privateKey))));
};

const privatePem = ({ privateKey }: KeyPair): string => privateKey.export({ type: 'pkcs8', format: 'pem' }) as string;

export interface AuthorityOptions {
  /** Names besides localhost for the server’s certificate. Tests resolve them to the simulator. */
  readonly hostNames?: readonly string[];
  /** When the client's certificate expires. */
  readonly clientUntil?: Date;
}

/** Returns an authority with fresh keys. Its own private key is discarded, so it can’t issue other certificates. */
export const makeAuthority = ({ hostNames = [], clientUntil }: AuthorityOptions = {}): Authority => {
  const issuer = keyPair();
  const server = keyPair();
  const client = keyPair();
  return {
    ca: certificateOf({ extensions: CA_EXTENSIONS, name: CA_NAME, keys: issuer }, issuer),
    serverCertificate: certificateOf(
      { extensions: serverExtensions(hostNames), name: 'localhost', keys: server },
      issuer,
    ),
    serverKey: privatePem(server),
    clientCertificate: certificateOf(
      {
        extensions: CLIENT_EXTENSIONS,
        name: 'Quita simulator client',
        keys: client,
        ...(clientUntil === undefined ? {} : { until: derTime(clientUntil) }),
      },
      issuer,
    ),
    clientKey: privatePem(client),
  };
};
