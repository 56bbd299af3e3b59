// Secrets that sign messages: of endpoints, and of accounts for payments' own URLs (rule W7). A rotation swaps them at once.
import { isRejection, type Rejection } from '../../domain/kernel/rejection.ts';
import type { Endpoint } from '../../domain/webhookEndpoint/webhookEndpoint.ts';
import { CommandContention } from '../core/commandHandler.ts';
import type { Randomness } from '../ports/randomness.ts';
import type { WebhookSecrets } from '../ports/secrets.ts';

interface Needs {
  readonly secrets: WebhookSecrets;
  readonly randomness: Randomness;
}
type SecretId = Parameters<WebhookSecrets['keep']>[0];

/** Stores 32 random bytes, as 64 hex characters, as this version. Returns the version's secret: an earlier one where there was one. */
export const keepSecret = ({ secrets, randomness }: Needs, id: SecretId, version: number): Promise<string> =>
  secrets.keep(id, version, randomness.bytes(32).toString('hex'));

/** Returns the secret that signs what goes to the endpoint. Throws when it is missing. */
export const endpointSecret = async (
  secrets: WebhookSecrets,
  { endpointId, secretVersion }: Pick<Endpoint, 'endpointId' | 'secretVersion'>,
): Promise<string> => {
  const secret = await secrets.find(endpointId, secretVersion);
  if (secret === null) throw new Error(`the signing secret of endpoint ${endpointId} is missing`);
  return secret;
};

/** An attempt is lost only when another rotation came first. */
const ATTEMPTS_MAX = 10;

interface Rotation {
  readonly id: SecretId;
  /** Returns the version after the present one, as the stream has it now. */
  readonly nextVersion: () => Promise<number | Rejection>;
  /** Records that the version signs from now on. 'taken': another rotation came first. */
  readonly record: (version: number) => Promise<'rotated' | 'taken' | Rejection>;
}

/**
 * Makes a new secret the one that signs and returns it, 64 hex characters. Rejects as `nextVersion` and `record` do. Throws
 * CommandContention when other rotations came first ten times in a row.
 */
export const rotateSecret = async (
  needs: Needs,
  { id, nextVersion, record }: Rotation,
): Promise<string | Rejection> => {
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
    const version = await nextVersion();
    if (isRejection(version)) return version;
    // Kept before the event that names it: a version without a secret could never be signed for.
    const secret = await keepSecret(needs, id, version);
    const reply = await record(version);
    if (isRejection(reply)) return reply;
    if (reply === 'rotated') return secret;
  }
  throw new CommandContention(`signing secret of ${id}: ${ATTEMPTS_MAX} rotations in a row were faster`);
};
