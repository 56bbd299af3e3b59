// Who types, and what the security log tells of it: user, command, arguments, names of options, ids; no values of options, for they
// hold names, addresses and reasons.
import { userInfo } from 'node:os';
import type { Log } from '../log/log.ts';
import type { CliInput, CliResult, StorageCommand } from './command.ts';
import { explained } from './explain.ts';

/** Returns `operator:<user>`; a user without a name (a container's) is its number. */
export const operatorOf = (): string => {
  try {
    return `operator:${userInfo().username}`;
  } catch {
    return `operator:${process.getuid?.() ?? 'unknown'}`;
  }
};

const changesAnything = ({ changes }: StorageCommand, { options }: CliInput): boolean =>
  changes === 'always' || (changes === 'withOptions' && Object.keys(options).length > 0);

/** `accountId`, `paymentId`: what was made or meant, under its own name. */
const idsOf = (json: unknown): { readonly [name: string]: unknown } =>
  Object.fromEntries(
    Object.entries(json ?? {}).filter(([name, value]) => name.endsWith('Id') && typeof value === 'string'),
  );

/** Runs a command; the security log tells of one that changes something when it has ended, or was refused. */
export const recorded = async (
  command: StorageCommand,
  input: CliInput,
  { operator, log }: { readonly operator: string; readonly log: Log },
  run: () => Promise<CliResult>,
): Promise<CliResult> => {
  const record = (outcome: 'done' | 'refused' | 'failed', json: unknown): void => {
    if (!changesAnything(command, input)) return;
    const what = {
      command: command.name,
      args: input.args,
      options: Object.keys(input.options),
      ...idsOf(json),
      outcome,
    };
    log.info({ security: 'operator_command', by: operator, ...what }, 'an operator used the command line');
  };
  try {
    const result = await run();
    record('done', result.json);
    return result;
  } catch (error) {
    record(explained(error) === null ? 'failed' : 'refused', null);
    throw error;
  }
};
