// Who did what by the command line, in the security log: user, command, arguments, names of options, ids; no values of options, for they
// hold names, addresses and reasons.
import { explained } from '../boot/explain.ts';
import type { Log } from '../log/log.ts';
import type { CliCommand, CliResult } from './command.ts';

interface Asked {
  readonly args: readonly string[];
  readonly options: { readonly [name: string]: unknown };
  readonly operator: string;
}

const OUTPUT_OPTIONS = ['json'];
const named = (options: Asked['options']): readonly string[] =>
  Object.keys(options).filter((name) => !OUTPUT_OPTIONS.includes(name));

const changesAnything = ({ changes }: CliCommand, { options }: Asked): boolean =>
  changes === 'always' || (changes === 'withOptions' && named(options).length > 0);

/** `accountId`, `paymentId`: what was made or meant, under its own name. */
const idsOf = (json: unknown): { readonly [name: string]: unknown } =>
  Object.fromEntries(
    Object.entries(json ?? {}).filter(([name, value]) => name.endsWith('Id') && typeof value === 'string'),
  );

/** Runs a command; one that changes something is told of when it has ended, or was refused. */
export const toldOf = async (
  command: CliCommand,
  asked: Asked,
  log: Log,
  run: () => Promise<CliResult>,
): Promise<CliResult> => {
  const tell = (outcome: 'done' | 'refused' | 'failed', json: unknown): void => {
    if (!changesAnything(command, asked)) return;
    const { operator, args, options } = asked;
    const what = { command: command.name, args, options: named(options), ...idsOf(json), outcome };
    log.info({ security: 'operator_command', by: operator, ...what }, 'an operator used the command line');
  };
  try {
    const result = await run();
    tell('done', result.json);
    return result;
  } catch (error) {
    tell(explained(error) === null ? 'failed' : 'refused', null);
    throw error;
  }
};
