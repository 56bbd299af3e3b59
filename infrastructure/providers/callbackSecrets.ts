// The secrets in the callback URLs of connections (rule V2).
import { createHash, timingSafeEqual } from 'node:crypto';
import type { ConnectionVault } from '../../application/ports/connectionWork.ts';
import type { CallbackSecrets } from '../../application/ports/providerCallbacks.ts';
import type { Clock } from '../../application/ports/system.ts';
import type { ConnectionId } from '../../domain/kernel/ids.ts';
import { toMillis } from '../../domain/kernel/time.ts';
import type { ConnectionRegistry } from './connections.ts';

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();

interface Accepted {
  readonly versions: string;
  readonly digests: readonly { readonly digest: Buffer; readonly until: number }[];
}

export const callbackSecrets = (
  registry: Pick<ConnectionRegistry, 'find'>,
  vault: Pick<ConnectionVault, 'find'>,
  clock: Clock,
): CallbackSecrets => {
  const known = new Map<ConnectionId, Accepted>();
  const acceptedOf = async (id: ConnectionId): Promise<Accepted['digests']> => {
    const connection = await registry.find(id);
    if (connection === null) {
      known.delete(id);
      return [];
    }
    const { callbackSecretVersion, previousCallback } = connection;
    const versions = JSON.stringify([callbackSecretVersion, previousCallback]);
    const remembered = known.get(id);
    if (remembered?.versions === versions) return remembered.digests;
    const all = [
      { version: callbackSecretVersion, until: Number.POSITIVE_INFINITY },
      ...(previousCallback === null
        ? []
        : [{ version: previousCallback.version, until: toMillis(previousCallback.until) }]),
    ];
    const found = await Promise.all(
      all.map(async ({ version, until }) => ({ secret: await vault.find(id, 'callback', version), until })),
    );
    const digests = found.flatMap(({ secret, until }) => (secret === null ? [] : [{ digest: digest(secret), until }]));
    known.set(id, { versions, digests });
    return digests;
  };
  return {
    accepts: async (id, secret) => {
      const given = digest(secret);
      const now = clock.now();
      // Every stored secret is compared, so that the time doesn't reveal the right one.
      return (await acceptedOf(id))
        .map(({ digest: right, until }) => timingSafeEqual(given, right) && now < until)
        .some((isRight) => isRight);
    },
    requiresCertificate: async (id) => (await registry.find(id))?.terms.requireClientCertificate ?? false,
  };
};
