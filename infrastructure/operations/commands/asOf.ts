// Builds read models as they were, and removes them.
import {
  AlreadyRunning,
  AsOfRefused,
  type Moment,
  type WorkProgress,
} from '../../../application/ports/readModelWork.ts';
import { instantOf } from '../../../http/kernel/query.ts';
import { PROJECTIONS } from '../../../projections/registry.ts';
import { type CliCommand, UsageError } from '../../cli/command.ts';

/** Throws UsageError if the schema can't be used, or another process works on it. */
const refusedAsUsage = async <T>(work: () => Promise<T>): Promise<T> => {
  try {
    return await work();
  } catch (error) {
    if (error instanceof AlreadyRunning || error instanceof AsOfRefused) throw new UsageError(error.message);
    throw error;
  }
};

const NAMES = PROJECTIONS.map(({ name }) => name);

/** Returns the read models of --only, or all. Throws UsageError for an unknown name. */
const namesOf = (only: string | true | undefined): readonly string[] => {
  if (typeof only !== 'string') return NAMES;
  const names = only.split(',').map((name) => name.trim());
  const unknown = names.find((name) => !NAMES.some((known) => known === name));
  if (unknown !== undefined) throw new UsageError(`"${unknown}" is no read model: use ${NAMES.join(', ')}`);
  return names;
};

const momentOf = (text: string): Moment => {
  const time = instantOf(text);
  if (time !== undefined) return { time };
  if (isDate(text)) throw new UsageError('a date needs a time and an offset, such as 2026-11-01T00:00-03:00');
  return { position: text };
};
const isDate = (text: string): boolean => /^\d{4}-\d\d-\d\d$/.test(text);

export const asOfCommand: CliCommand = {
  name: 'projections as-of',
  summary:
    'Build read models as they were at a time (2026-11-01T00:00-03:00) or position, in a schema beside the live ones; or remove such a schema',
  args: [{ name: 'moment', optional: true }],
  options: {
    into: { description: 'the schema; created by the command', required: true },
    only: { description: `only these read models, separated by commas (${NAMES.join(', ')}); all by default` },
    drop: { description: 'remove the schema, if this command made it', flag: true },
  },
  changes: 'always',
  run: async (world, { args: [moment], options }, { progress }) => {
    const schema = String(options['into']);
    if ((moment === undefined) !== (options['drop'] === true) || (options['drop'] && options['only']))
      throw new UsageError('projections as-of: give either a moment or --drop');
    if (moment === undefined) {
      await refusedAsUsage(() => world.platform.dropReadModelsAsOf(schema));
      return { json: { dropped: schema }, text: `dropped ${schema}` };
    }
    const wish = { moment: momentOf(moment), schema, names: namesOf(options['only']) };
    const onProgress = ({ share, what }: WorkProgress) => progress.show(share, what);
    const result = await refusedAsUsage(() => world.platform.readModelsAsOf(wish, world.signal, onProgress));
    const { position, readModels } = result;
    const lines = readModels.map(
      ({ readModel, events, parked }) =>
        `${readModel}: ${events} events${parked > 0 ? `, ${parked} streams parked` : ''}`,
    );
    const isBad = readModels.some(({ parked }) => parked > 0);
    return { json: { schema, ...result }, text: [...lines, `${schema} is as of ${position}`].join('\n'), isBad };
  },
};
