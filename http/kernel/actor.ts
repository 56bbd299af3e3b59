// Who asks, and by which request: what commands record as their cause.
import type { Actor } from '../../application/core/eventMetadata.ts';
import type { RouteContext } from './route.ts';

export const requesterOf = ({ caller, requestId }: RouteContext): Actor => ({ actor: caller.actor, requestId });
