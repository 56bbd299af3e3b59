// Who asks, and by which request: what commands record as their cause.
import type { Actor } from '../../application/core/eventMetadata.ts';
import type { KeyContext } from './route.ts';

export const actorOf = ({ caller, requestId }: Pick<KeyContext, 'caller' | 'requestId'>): Actor => ({
  actor: caller.actor,
  requestId,
});
