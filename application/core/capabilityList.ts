// Derives needs, use cases, jobs and processes from a list of capabilities.

import { OWN_SETTINGS } from '../../domain/account/ownSettings.ts';
import type { DeclaredSettings } from '../../domain/kernel/accountSetting.ts';
import { isRejection } from '../../domain/kernel/rejection.ts';
import type { JobKind, JobPayload, JobRequest } from '../ports/jobs.ts';
import { type Joined, joined } from '../ports/joined.ts';
import { consumerName, type EffectHandler, type ProcessManager } from '../ports/processManager.ts';
import type { NotificationKey, NotifiedWork } from '../ports/providerNotifications.ts';
import type { SettingChanged } from '../ports/securityEvents.ts';
import type {
  Capability,
  HandleNotification,
  Handler,
  Job,
  NotificationWork,
  RecordOf,
  TimerWork,
} from './capability.ts';

type AnyCapability = Capability<never, object, object, never>;

export type NeedsOfAll<List extends readonly AnyCapability[]> = OperatingOf<List> &
  (List[number]['useCases'] extends (needs: infer Needs) => unknown ? Needs : never);
export type OperatingOf<List extends readonly AnyCapability[]> = List[number]['operators'] extends (
  needs: infer Needs,
) => unknown
  ? Needs
  : never;
export type UseCasesOf<List extends readonly AnyCapability[]> = Joined<ReturnType<List[number]['useCases']>>;
export type OperatorsOf<List extends readonly AnyCapability[]> = Joined<ReturnType<List[number]['operators']>>;

type Call = (...args: readonly unknown[]) => Promise<unknown>;
type Report = (change: SettingChanged) => void;

/** Returns a use case that reports its changes. */
const recording =
  (call: Call, record: RecordOf<Call>, report: Report): Call =>
  async (...args) => {
    const done = await call(...args);
    const change = isRejection(done) ? null : record(done, ...args);
    if (change !== null) report(change);
    return done;
  };

/** Returns the use cases of all capabilities. Those with a record call `report` for each change. */
export const useCasesOf = <Needs, List extends readonly Capability<Needs>[]>(
  list: List & readonly Capability<Needs>[],
  needs: Needs,
  report: Report,
): UseCasesOf<List> =>
  joined(
    'capabilities have a use case',
    list.map(({ useCases, records }) => {
      const all = useCases(needs);
      const recorded = Object.entries(records as { readonly [name: string]: RecordOf<Call> }).map(([name, record]) => [
        name,
        recording((all as { readonly [name: string]: Call })[name] as Call, record, report),
      ]);
      return { ...all, ...Object.fromEntries(recorded) };
    }),
  ) as UseCasesOf<List>;

export const operatorsOf = <Operating, List extends readonly Capability<never, object, object, Operating>[]>(
  list: List & readonly Capability<never, object, object, Operating>[],
  needs: Operating,
): OperatorsOf<List> =>
  joined(
    'capabilities have an operators’ use case',
    list.map(({ operators }) => operators(needs)),
  ) as OperatorsOf<List>;

export const declaredSettingsOf = (
  capabilities: readonly Pick<Capability<never>, 'settings' | 'sandboxSwitches'>[],
): DeclaredSettings => ({
  settings: [...Object.values(OWN_SETTINGS), ...capabilities.flatMap(({ settings }) => settings)],
  switches: capabilities.flatMap(({ sandboxSwitches }) => sandboxSwitches),
});

export const processesOf = (capabilities: readonly Pick<Capability<never>, 'processes'>[]): readonly ProcessManager[] =>
  capabilities.flatMap(({ processes }) => processes);

export const jobsOf = <const List extends readonly AnyCapability[]>(list: List): readonly Job<NeedsOfAll<List>>[] =>
  // A job that needs only some of the needs accepts all of them.
  list.flatMap(({ jobs }) => jobs) as readonly unknown[] as readonly Job<NeedsOfAll<List>>[];

/** Returns whether an operator may have this consumer skip an event without naming the consumer twice. */
export const maySkip = (processes: readonly ProcessManager[], consumer: string): boolean =>
  processes.some((process) => consumerName(process) === consumer && !process.movesMoney);

/** Returns the consumers of the log, as operators' work on them needs them. */
export const consumersOf = (
  readModels: readonly { readonly name: string; readonly isByAccount?: boolean }[],
  processes: readonly ProcessManager[],
) => {
  const all = [...readModels, ...processes.map((process) => ({ ...process, name: consumerName(process) }))];
  return {
    names: all.map(({ name }) => name),
    divisible: all.filter(({ isByAccount }) => isByAccount).map(({ name }) => name),
    maySkip: (name: string) => maySkip(processes, name),
  };
};

/** Returns the jobs that notifications start. `handling`: the kind of job that handles stored notifications. */
export const notifiedWorkOf = <Payload extends JobPayload>(
  capabilities: readonly Pick<Capability<never>, 'notifications'>[],
  handling: JobKind<Payload>,
  requestOf: (key: NotificationKey) => Omit<JobRequest<Payload>, 'queue'>,
): NotifiedWork => {
  const kinds = joined(
    'capabilities have a notification',
    capabilities.map(({ notifications }) => notifications),
  ) as Capability<never>['notifications'];
  return {
    handling: (key) => ({ queue: handling.name, ...requestOf(key) }),
    queueOf: (kind) => {
      const declared = kinds[kind];
      return declared !== undefined && 'job' in declared ? declared.job.name : handling.name;
    },
  };
};

export interface Work<Needs> {
  readonly needs: Needs;
  /** By kind. */
  readonly handlers: ReadonlyMap<string, Handler<JobPayload>>;
  /** By name. */
  readonly effects: ReadonlyMap<string, EffectHandler>;
}

/** Returns the capabilities' needs, handlers and effects. `needsWith`: makes the needs from the work that the capabilities declare. */
export const workOf = <Needs>(
  capabilities: readonly Capability<Needs>[],
  needsWith: (declared: { readonly timerWork: TimerWork; readonly notificationWork: NotificationWork }) => Needs,
): Work<Needs> => {
  const handlers = new Map<string, Handler<JobPayload>>();
  const kinds = new Map<string, HandleNotification>();
  const overtaking: HandleNotification[] = [];
  const needs = needsWith({
    timerWork: {
      isSent: (kind) => handlers.get(kind)?.runOne === undefined,
      run: async ({ kind, payload, dueAt }) => handlers.get(kind)?.runOne?.(payload, dueAt),
    },
    notificationWork: {
      handle: async (notification) => {
        const handle = kinds.get(notification.kind);
        if (handle === undefined) throw new Error(`no capability handles notifications of kind ${notification.kind}`);
        return handle(notification);
      },
      afterMoney: async (notification) => {
        for (const handle of overtaking) await handle(notification);
      },
    },
  });
  const effects = new Map<string, EffectHandler>();
  for (const { jobs, notifications, effects: declared } of capabilities) {
    for (const { kind, handler } of jobs) handlers.set(kind.name, handler(needs));
    for (const [name, effect] of Object.entries(declared)) effects.set(name, effect(needs));
    for (const [name, kind] of Object.entries(notifications)) {
      if ('job' in kind) continue;
      const handle = kind.handle(needs);
      kinds.set(name, handle);
      if (kind.overtakesMoney) overtaking.push(handle);
    }
  }
  return { needs, handlers, effects };
};
