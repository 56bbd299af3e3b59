// Prometheus metrics (architecture §9). No label grows with the number of merchants.
import { collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { Watched } from './readiness.ts';

const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

export interface Metrics {
  readonly registry: Registry;
  readonly onAnswer: (route: string, status: number, seconds: number) => void;
}

/** The parts of a running gateway that the metrics read. */
export interface Counted extends Watched {
  readonly parked: { countOf(consumer: string): number };
  readonly jobs: {
    readonly queues: readonly string[];
    readonly putBack: ReadonlyMap<string, number>;
    open(queue: string): Promise<number>;
  };
  /** Gauges that the capabilities declare. */
  readonly gauges: readonly { readonly name: string; readonly help: string; readonly read: () => Promise<number> }[];
}

type AddGauge = <L extends string>(
  name: string,
  help: string,
  labelNames: L[],
  collect: (set: (labels: Record<L, string>, value: number) => void) => void | Promise<void>,
) => void;

const gaugesIn =
  (registry: Registry, onError: (error: Error) => void): AddGauge =>
  (name, help, labelNames, collect) => {
    new Gauge({
      name,
      help,
      labelNames,
      registers: [registry],
      async collect() {
        try {
          await collect((labels, value) => this.set(labels, value));
        } catch (error) {
          this.reset();
          if (labelNames.length === 0) this.remove(); // otherwise it would be 0
          onError(error as Error);
        }
      },
    });
  };

const jobGauges = ({ jobs }: Pick<Counted, 'jobs'>, gauge: AddGauge): void => {
  gauge('quita_jobs_open', 'Jobs that are waiting or running, counted up to 10,000.', ['queue'], async (set) => {
    for (const queue of jobs.queues) set({ queue }, await jobs.open(queue));
  });
  gauge(
    'quita_jobs_put_back',
    'How often this process left a job to a worker of a newer version.',
    ['queue'],
    (set) => {
      for (const queue of jobs.queues) set({ queue }, jobs.putBack.get(queue) ?? 0);
    },
  );
};

/** `onError`: a gauge could not be read. Its series are then missing, and all others are still served. */
export const createMetrics = (gateway: Counted, onError: (error: Error) => void = () => undefined): Metrics => {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry, prefix: 'quita_' });
  const answers = new Histogram({
    name: 'quita_http_answer_seconds',
    help: 'Response time by operation and status.',
    labelNames: ['operation', 'status'],
    buckets: SECONDS,
    registers: [registry],
  });
  const gauge = gaugesIn(registry, onError);
  const groups = [
    ['projector', gateway.projected],
    ['reactor', gateway.reacted],
  ] as const;
  gauge(
    'quita_subscription_stuck_seconds',
    'Seconds that a read model or process has made no progress while it is behind the log, in whichever process it runs.',
    ['group', 'consumer'],
    (set) => {
      for (const [group, progress] of groups)
        for (const consumer of progress.names) set({ group, consumer }, progress.stuckMs(consumer) / 1000);
    },
  );
  gauge(
    'quita_parked_streams',
    'Streams that a read model or process parked after a failed event. Must be 0.',
    ['consumer'],
    (set) => {
      for (const [, { names }] of groups)
        for (const consumer of names) set({ consumer }, gateway.parked.countOf(consumer));
    },
  );
  gauge(
    'quita_subscription_faults',
    'Read models and process managers in this process that have failed. Must be 0.',
    ['group'],
    (set) => {
      set({ group: 'projector' }, gateway.projector?.faults().length ?? 0);
      set({ group: 'reactor' }, gateway.reactor?.faults().length ?? 0);
    },
  );
  gauge(
    'quita_subscription_leading',
    'Partitions of the read model, process or duty that this process leads: 0 or 1, if it is not divided. The processes of a role share them.',
    ['group', 'consumer'],
    (set) => {
      for (const group of ['projector', 'reactor'] as const)
        for (const consumer of gateway[group]?.names ?? [])
          set({ group, consumer }, gateway[group]?.ledOf(consumer) ?? 0);
    },
  );
  jobGauges(gateway, gauge);
  for (const { name, help, read } of gateway.gauges)
    gauge(`quita_${name}`, help, [], async (set) => set({}, await read()));
  return {
    registry,
    onAnswer: (operation, status, seconds) => answers.observe({ operation, status: String(status) }, seconds),
  };
};
