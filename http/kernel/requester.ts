// Who asks, and by which request: what commands record as their cause.
import type { Requester } from '../../application/core/eventMetadata.ts';
import type { Ask } from './route.ts';

export const requesterOf = ({ caller, requestId }: Ask): Requester => ({ actor: caller.actor, requestId });
