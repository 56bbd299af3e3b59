// The form in which PostgreSQL stores a password. Sent instead of the password, it keeps the cleartext out of the server's logs.
import { createHash, createHmac, pbkdf2Sync, randomBytes } from 'node:crypto';

const ITERATIONS = 4_096;

/** Returns the verifier of SCRAM-SHA-256 (RFC 5803). The password must be ASCII, because others would need to be prepared first. */
export const scramVerifier = (password: string, salt = randomBytes(16)): string => {
  const salted = pbkdf2Sync(password, salt, ITERATIONS, 32, 'sha256');
  const keyed = (text: string): Buffer => createHmac('sha256', salted).update(text).digest();
  const storedKey = createHash('sha256').update(keyed('Client Key')).digest('base64');
  return `SCRAM-SHA-256$${ITERATIONS}:${salt.toString('base64')}$${storedKey}:${keyed('Server Key').toString('base64')}`;
};
