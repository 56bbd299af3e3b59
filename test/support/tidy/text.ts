// Rules about the text of single files.
import type { Problem, Source } from './source.ts';

/** Files that necessarily contain the forbidden texts. */
const ABOUT_THE_RULES = ['test/tidy.test.ts', 'test/support/tidy/'];
const COLUMNS_MAX = 140;
/** The limit for a line that contains text. */
const TEXT_COLUMNS_MAX = 240;

/** The only module with a repeating timer. */
const TIMER_LOOP = 'application/ports/repeating.ts';

interface Ban {
  readonly pattern: RegExp;
  readonly where: (path: string) => boolean;
  readonly instead: string;
}
const isCore = (path: string) => /^(domain|application|projections)\//.test(path);
const isTest = (path: string) => path.startsWith('test/');
const everywhere = () => true;

/** Test files that may use a timer, with the reason. */
const TIMERS_ALLOWED: Readonly<Record<string, string>> = {
  'test/http/site/checkoutBrowser.ts':
    'the window that the checkout script believes in: its timers never run by themselves',
  'test/world/receiver.ts': 'a time-out on a wait for a signal',
  'test/world/program.ts': 'a time-out on a wait for a line of output',
  'test/http/kernel/hostileRequests.ts': 'a time-out on requests that never end',
  'test/world/hostileReceivers.ts': 'servers that drip their answers: slowness is what is tested',
  'test/infrastructure/server/httpServer.test.ts': 'a client that sends at a rate: slowness is what is tested',
  'test/infrastructure/webhookSender/send.test.ts': 'a server that drips its answer: slowness is what is tested',
  'test/simulators/pixApi/pauses.ts': 'pauses between callbacks, and slow answers of the simulated institution',
  'test/support/eventStoreDb/timers.ts': 'delayed answers and the write time-out of the test server',
};

const BANS: readonly Ban[] = [
  { pattern: /\bDate\.now\b/, where: isCore, instead: 'take the time as an argument, or from the port Clock' },
  {
    pattern: /\bMath\.random\b/,
    where: isCore,
    instead: 'take randomness as an argument, or from the port Randomness',
  },
  {
    pattern:
      /\b(?:random(?:UUID|Bytes|Int)|set(?:Timeout|Interval|Immediate)|performance\.now)\b|\bAbortSignal\.timeout\b/,
    where: (path) => /^(domain|application)\//.test(path) && path !== TIMER_LOOP,
    instead: 'take chance from the port Randomness, passing time from the port Stopwatch',
  },
  {
    pattern: /\bsetInterval\b/,
    where: (path) => /^(projections|http|infrastructure)\//.test(path),
    instead: `use repeating() of ${TIMER_LOOP}`,
  },
  {
    pattern: /\boperations\.(?:timers|scheduled_deliveries|scheduled_counts|failing_targets|redrives|redrive_probes)\b/,
    where: (path) => path.startsWith('projections/'),
    instead: 'read the views of migration 0015_delivery_state',
  },
  {
    pattern: /\brm_webhook_deliveries\b/,
    where: (path) => path.startsWith('infrastructure/'),
    instead: 'take the condition as an argument, from projections/webhooks',
  },
  { pattern: /\bnew Date\(\)/, where: isCore, instead: 'take the time as an argument, or from the port Clock' },
  {
    pattern: /^ {4,}(?:get|set) \w+\(/,
    where: (path) => /^(?:domain|application|projections|http|infrastructure)\//.test(path),
    instead:
      'in an object made by a function, each evaluation makes another shape, and garbage survives: use a class or a method',
  },
  { pattern: /\b(?:TODO|FIXME|XXX|HACK)\b/, where: everywhere, instead: 'do it, or open an issue' },
  { pattern: /\bfor now\b/i, where: everywhere, instead: 'do it right, or say why it is right' },
  {
    pattern: /\b(?:describe|context|it|specify)\.(?:skip|only)\b|\bx(?:it|describe)\(|\bthis\.skip\(/,
    where: isTest,
    instead: 'every test runs, always',
  },
  {
    pattern: /\b(?:setTimeout|setInterval|sleep|scheduler\.wait)\(|\bset(?:Timeout|Interval)\b.*'node:timers/,
    where: (path) =>
      isTest(path) &&
      !path.startsWith('test/bench/') &&
      !path.startsWith('test/soak/') &&
      !Object.hasOwn(TIMERS_ALLOWED, path),
    instead: 'wait on a signal; a time-out on such a wait is allowed by name in test/support/tidy/text.ts',
  },
];

export const textProblems = (sources: readonly Source[]): readonly Problem[] =>
  sources
    .filter(({ path }) => !ABOUT_THE_RULES.some((own) => path.startsWith(own)))
    .flatMap(({ path, text }) =>
      BANS.filter(({ where }) => where(path)).flatMap(({ pattern, instead }) =>
        text.split('\n').flatMap((line, i) => {
          const found = pattern.exec(line)?.[0];
          return found === undefined ? [] : [`${path}:${i + 1}: "${found}": ${instead}`];
        }),
      ),
    );

/** Returns entries of the allow-list whose file has no timer. */
export const staleTimers = (sources: readonly Source[]): readonly Problem[] =>
  Object.keys(TIMERS_ALLOWED)
    .filter(
      (path) => !/\bsetTimeout\b|\bsetInterval\b/.test(sources.find((source) => source.path === path)?.text ?? ''),
    )
    .map((path) => `${path} holds no timer: take it off the list in test/support/tidy/text.ts`);

/** The formatter limits code to 120 columns, but doesn't break comments and texts such as messages, queries and header lines. */
const columnsMax = (line: string): number =>
  /^\s*(?:\/\/|\/?\*)/.test(line) || !/['"`<]|\$\{/.test(line) ? COLUMNS_MAX : TEXT_COLUMNS_MAX;

export const widthProblems = (sources: readonly Source[]): readonly Problem[] =>
  sources.flatMap(({ path, text }) =>
    text
      .split('\n')
      .flatMap((line, i) =>
        line.length > columnsMax(line) ? [`${path}:${i + 1}: ${line.length} columns, at most ${columnsMax(line)}`] : [],
      ),
  );
