// The two groups of consumers of the log: the projector writes read models, the reactor turns events into jobs and timers.
import { processesOf } from '../../application/core/capability.ts';
import { liveSchema, type Projection } from '../../projections/engine/projection.ts';
import { prepareLiveCopies } from '../../projections/engine/rebuild.ts';
import { Subscriptions } from '../../projections/engine/subscriptions.ts';
import { Reactor } from '../reactions/reactor.ts';
import { type Core, warnings } from './core.ts';
import type { GatewayOptions } from './gateway.ts';

const shared = ({ storage, log, onMismatch }: GatewayOptions, { parked }: Core) => ({
  store: storage.store,
  codec: storage.codec,
  openSession: storage.openSession,
  onMismatch,
  onParked: (streams: Parameters<typeof parked.parked>[0]) => parked.parked(streams),
  onTaken: (consumer: string, stream: string) => parked.taken(consumer, stream),
  onRestart: warnings(log)('a follower of the log tries again'),
  onFault: (name: string, err: Error) =>
    log.error({ err, name }, 'a follower of the log failed: its position stands still until this is mended'),
});

/** It takes parked streams up again when it is asked to. */
const attentive = (followers: Subscriptions, { leaders }: Core): Subscriptions => {
  leaders.push(() => void followers.attend());
  return followers;
};

const asConsumer = (projection: Projection) => {
  const writer = projection.writer(liveSchema(projection.name));
  const { name, categories } = projection;
  return { name, categories, reset: async () => writer.reset(), apply: writer.apply.bind(writer) };
};

export const projectorOf = (options: GatewayOptions, core: Core): Subscriptions =>
  attentive(
    new Subscriptions({
      ...shared(options, core),
      role: 'projector',
      consumers: core.projections.map(asConsumer),
      versionOf: ({ name }) => core.projections.find((projection) => projection.name === name)?.version ?? 1,
      prepare: prepareLiveCopies(core.projections, options.storage, options.storage.openSession),
      onMoved: (names, position) => core.projected.moved(names, position),
    }),
    core,
  );

/** `onTimers`: timers were set, the earliest of them in account time. */
export const reactorOf = (options: GatewayOptions, core: Core, onTimers: (earliest: string) => void): Subscriptions => {
  const needs = { jobs: core.jobs, onTimers };
  return attentive(
    new Subscriptions({
      ...shared(options, core),
      role: 'reactor',
      consumers: processesOf(core.capabilities).map((process) => new Reactor(process, needs)),
      onMoved: (names, position) => core.reacted.moved(names, position),
    }),
    core,
  );
};
