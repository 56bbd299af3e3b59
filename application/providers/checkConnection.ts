// `provider check` and `provider webhook`: calls that an operator makes through a connection.
import type { ConnectionId } from '../../domain/kernel/ids.ts';
import { isRejection, type Rejection, reject } from '../../domain/kernel/rejection.ts';
import type { CommandHandler } from '../core/commandHandler.ts';
import type { ConnectionTool, ConnectionVault } from '../ports/connectionWork.ts';
import type { CallbackReads } from '../ports/providerCallbacks.ts';
import {
  type CheckStep,
  ConnectionUnopened,
  type OpenConnection,
  ProviderRefused,
} from '../ports/providerConnections.ts';
import type { Stopwatch } from '../ports/system.ts';
import { loadConnection } from './manageConnections.ts';

export interface CheckConnectionNeeds {
  readonly commands: CommandHandler;
  readonly stopwatch: Stopwatch;
  readonly connectionTool: ConnectionTool;
  readonly connectionVault: Pick<ConnectionVault, 'find'>;
  readonly callbackReads: Pick<CallbackReads, 'latest'>;
}

/** How long the check waits for the institution to call the webhook back. */
const CALLED_BACK_MS = 30_000;
const LOOK_MS = 250;

type Work<T> = (open: OpenConnection, callbackUrl: string) => Promise<T>;

/**
 * Runs work with an open connection. Rejects with `not_found`, and with `invalid_connection` if the connection can't be opened or the
 * institution refuses.
 */
const withConnection = async <T>(
  needs: CheckConnectionNeeds,
  id: ConnectionId,
  work: Work<T>,
): Promise<T | Rejection> => {
  const connection = await loadConnection(needs, id);
  if (isRejection(connection)) return connection;
  const { connectionTool: tool, connectionVault: vault } = needs;
  let open: OpenConnection | null = null;
  try {
    open = await tool.open(connection);
    const secret = await vault.find(id, 'callback', connection.callbackSecretVersion);
    return await work(open, tool.callbackUrl(id, secret as string));
  } catch (error) {
    if (error instanceof ProviderRefused || error instanceof ConnectionUnopened)
      return reject('invalid_connection', error.message);
    throw error;
  } finally {
    open?.close();
  }
};

/** Registers the webhook and waits until the institution calls it. Never throws. */
const webhookSteps = async function* (
  { stopwatch, callbackReads }: CheckConnectionNeeds,
  id: ConnectionId,
  open: OpenConnection,
  callbackUrl: string,
): AsyncGenerator<CheckStep> {
  const before = await callbackReads.latest(id);
  try {
    await open.registerWebhook(callbackUrl);
  } catch (error) {
    yield { name: 'webhook', isOk: false, detail: `It could not be registered: ${(error as Error).message}` };
    return;
  }
  yield { name: 'webhook', isOk: true, detail: 'It is registered at the institution.' };
  const started = stopwatch.elapsedMs();
  while ((await callbackReads.latest(id)) === before) {
    if (stopwatch.elapsedMs() - started > CALLED_BACK_MS) {
      const detail = `No callback arrived within ${CALLED_BACK_MS / 1_000} s: is PUBLIC_URL reachable for the institution?`;
      yield { name: 'callback', isOk: false, detail };
      return;
    }
    await stopwatch.pause(LOOK_MS);
  }
  yield { name: 'callback', isOk: true, detail: 'The institution called back.' };
};

/**
 * Checks a connection. `onStep` is called with each step as it finishes. Returns all steps; if the connection can't be opened, the only
 * one says why. Rejects with `not_found`.
 */
export const checkProviderConnection =
  (needs: CheckConnectionNeeds) =>
  async (
    id: ConnectionId,
    onStep: (step: CheckStep) => void = () => undefined,
  ): Promise<readonly CheckStep[] | Rejection> => {
    const steps: CheckStep[] = [];
    const take = (step: CheckStep): void => {
      steps.push(step);
      onStep(step);
    };
    const done = await withConnection(needs, id, async (open, callbackUrl) => {
      for await (const step of open.check()) take(step);
      for await (const step of webhookSteps(needs, id, open, callbackUrl)) take(step);
      return steps;
    });
    if (!isRejection(done) || done.code !== 'invalid_connection') return done;
    take({ name: 'settings', isOk: false, detail: done.message });
    return steps;
  };

/** Returns the URL without its last part, which is a secret. */
const withoutSecret = (url: string): string => url.replace(/[^/]+$/, '…');

export interface RegisteredWebhook {
  /** Without its last part, which is a secret; null if none is registered. */
  readonly url: string | null;
  /** Whether it is the connection's current callback URL. */
  readonly isCurrent: boolean;
}

/** Registers the callback URL at the institution. Rejects with `not_found`, and a refusal with `invalid_connection`. */
export const registerProviderWebhook =
  (needs: CheckConnectionNeeds) =>
  (id: ConnectionId): Promise<RegisteredWebhook | Rejection> =>
    withConnection(needs, id, async (open, callbackUrl) => {
      await open.registerWebhook(callbackUrl);
      return { url: withoutSecret(callbackUrl), isCurrent: true };
    });

/** Returns the URL registered at the institution. Rejects with `not_found`, and a refusal with `invalid_connection`. */
export const showProviderWebhook =
  (needs: CheckConnectionNeeds) =>
  (id: ConnectionId): Promise<RegisteredWebhook | Rejection> =>
    withConnection(needs, id, async (open, callbackUrl) => {
      const url = await open.registeredWebhook();
      return { url: url && withoutSecret(url), isCurrent: url === callbackUrl };
    });
