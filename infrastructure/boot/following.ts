// The two groups of followers: the projector writes read models, the reactor turns events into jobs and timers.
import { Followers } from '../../projections/engine/followers.ts';
import { liveSchema, type Projection } from '../../projections/engine/projection.ts';
import { PROJECTIONS } from '../../projections/registry.ts';
import { EndpointBook } from '../processes/endpointBook.ts';
import { Reactor } from '../processes/reactions.ts';
import { type Core, warnings } from './core.ts';
import type { GatewayOptions } from './gateway.ts';
import { prepareLiveCopies } from './liveCopies.ts';
import { KEEPS_ENDPOINTS, PROCESSES } from './processManagers.ts';

const shared = ({ storage, log, onMismatch }: GatewayOptions) => ({
  store: storage.store,
  openSession: storage.openSession,
  onMismatch,
  onRestart: warnings(log)('a follower of the log starts again'),
  onFault: (name: string, err: Error) =>
    log.error({ err, name }, 'a follower of the log stepped aside: its position stands still until this is mended'),
});

const asConsumer = (projection: Projection) => {
  const writer = projection.writer(liveSchema(projection.name));
  const { name, categories } = projection;
  return { name, categories, reset: async () => writer.reset(), apply: writer.apply.bind(writer) };
};

export const projectorOf = (options: GatewayOptions, { projected }: Core): Followers =>
  new Followers({
    ...shared(options),
    role: 'projector',
    consumers: PROJECTIONS.map(asConsumer),
    versionOf: ({ name }) => PROJECTIONS.find((projection) => projection.name === name)?.version ?? 1,
    prepare: prepareLiveCopies(PROJECTIONS, options.storage.store, options.storage.openSession),
    onMoved: (position) => projected.moved(position),
  });

/** `onTimers`: timers were set, the earliest of them in account time. */
export const reactorOf = (
  options: GatewayOptions,
  { jobs, reacted }: Core,
  onTimers: (earliest: string) => void,
): Followers => {
  const needs = { jobs, endpoints: new EndpointBook(), onTimers };
  return new Followers({
    ...shared(options),
    role: 'reactor',
    consumers: PROCESSES.map((process) => new Reactor(process, needs, process.name === KEEPS_ENDPOINTS)),
    onMoved: (position) => reacted.moved(position),
  });
};
