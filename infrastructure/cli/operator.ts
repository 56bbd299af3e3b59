// Identifies the operator and records commands in the security log: user, command, arguments, names of options and ids. Values of
// options are left out, because they hold names, addresses and reasons.
import { userInfo } from 'node:os';
import type { Log } from '../log/log.ts';
import type { CliInput, CliResult, StorageCommand } from './command.ts';
import { explained } from './explain.ts';

/** Returns `operator:<user>`, with the user's number if it has no name, as in containers. */
export const operatorOf = (): string => {
  try {
    return `operator:${userInfo().username}`;
  } catch {
    return `operator:${process.getuid?.() ?? 'unknown'}`;
  }
};

const changesAnything = ({ changes }: StorageCommand, { options }: CliInput): boolean =>
  changes === 'always' || (changes === 'withOptions' && Object.keys(options).length > 0);

/** Returns the ids in a result: `accountId`, `paymentId` and so on. */
const idsOf = (json: unknown): { readonly [name: string]: unknown } =>
  Object.fromEntries(
    Object.entries(json ?? {}).filter(([name, value]) => name.endsWith('Id') && typeof value === 'string'),
  );

/**
 * Runs a command. If it changes something, its outcome is written to the security log, also when it fails. `incomplete`: the command found
 * a problem, and changed nothing or only a part.
 */
export const recorded = async (
  command: StorageCommand,
  input: CliInput,
  { operator, log }: { readonly operator: string; readonly log: Log },
  run: () => Promise<CliResult>,
): Promise<CliResult> => {
  const record = (outcome: 'done' | 'incomplete' | 'refused' | 'failed', json: unknown): void => {
    if (!changesAnything(command, input)) return;
    const what = {
      command: command.name,
      args: input.args,
      options: Object.keys(input.options),
      ...idsOf(json),
      outcome,
    };
    log.info({ security: 'operator_command', by: operator, ...what }, 'operator ran a command');
  };
  try {
    const result = await run();
    record(result.isBad ? 'incomplete' : 'done', result.json);
    return result;
  } catch (error) {
    record(explained(error) === null ? 'failed' : 'refused', null);
    throw error;
  }
};
