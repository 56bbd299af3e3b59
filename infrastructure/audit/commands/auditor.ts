// CLI commands for auditors: exports, proofs, verification, and the story of a payment.
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseStreamName } from '../../../domain/aggregates.ts';
import { civilDayBounds } from '../../../domain/kernel/civilDay.ts';
import { isTimestamp, type Timestamp } from '../../../domain/kernel/time.ts';
import { LANGUAGES, type Language } from '../../../domain/presentation/amount.ts';
import {
  accepted,
  type CliCommand,
  type CliOutput,
  type CliWorld,
  existingAccountOf,
  paymentIdOf,
  UsageError,
} from '../../cli/command.ts';
import { writeOutput, writingAlone } from '../../cli/outputFile.ts';
import { exportFolder, LOCK } from '../exportFolder.ts';
import { storyText } from './storyText.ts';
import { printable, verifyExport } from './verifier.ts';

/** Returns the beginning of a day of São Paulo, or the time itself. Throws UsageError if the text is neither. */
const timeOf = (option: string, text: string | true | undefined): Timestamp | null => {
  if (text === undefined) return null;
  const time = isTimestamp(text) ? text : civilDayBounds(String(text), 'America/Sao_Paulo')?.from;
  if (time === undefined)
    throw new UsageError(`--${option} must be a day like 2026-10-01, or a time like 2026-10-01T03:00:00.000Z`);
  return time;
};

const following = ({ signal }: CliWorld, { progress }: CliOutput) => ({
  signal,
  onEntries: (done: number, all: number) =>
    progress.show(all === 0 ? 1 : Math.min(1, done / all), `${done} of ${all} entries`),
});

const listOf = (text: string | true | undefined): readonly string[] =>
  text === undefined ? [] : String(text).split(',').filter(Boolean);

const exportCommand: CliCommand = {
  name: 'audit export',
  summary: 'Write an export that auditors can verify; if it is interrupted, run it again to continue',
  options: {
    from: { description: 'first day (São Paulo) or time; default: the first event' },
    to: { description: 'day or time at which the period ends, exclusive; default: the newest checkpoint' },
    account: { description: 'only events of this account; auditors can’t see then whether all are there' },
    out: { description: 'folder to write to; new, or with an interrupted export', required: true },
  },
  run: async (world, { options: { from, to, account, out } }, output) => {
    const period = {
      from: timeOf('from', from),
      to: timeOf('to', to),
      account: account === undefined ? null : await existingAccountOf(world, String(account)),
    };
    if (period.from !== null && period.to !== null && period.to <= period.from)
      throw new UsageError('--to must be after --from');
    const root = String(out);
    await mkdir(root, { recursive: true });
    const done = await writingAlone(root, join(root, LOCK), async () =>
      accepted(await world.platform.exportAuditLog(exportFolder(root), period, following(world, output))),
    );
    output.progress.clear();
    const { first, end, size, origin } = done;
    const entries = first === end ? 'no entries' : `entries ${first} to ${end - 1}`;
    return { json: done, text: `${out}: ${entries} of ${origin}, in the tree of size ${size}` };
  },
};

/** Reads `<stream>@<revision>`, or returns null. */
const eventOf = (text: string) => {
  const [, name = '', revision] = /^(.+)@(0|[1-9]\d{0,8})$/.exec(text) ?? [];
  const stream = parseStreamName(name);
  return stream === null ? null : { stream, revision: Number(revision) };
};

const prove: CliCommand = {
  name: 'audit prove',
  summary: 'Prove that a payment’s events, or one event <stream>@<revision>, are in the audit log: a file for each',
  args: [{ name: 'payment or event' }],
  options: { out: { description: 'folder to write the .tlog-proof files to', required: true } },
  run: async ({ platform }, { args: [text = ''], options: { out } }) => {
    const event = eventOf(text);
    const proving = event
      ? platform.proveEvent(event.stream, event.revision)
      : platform.provePayment(paymentIdOf(text));
    const { proofs, unsealed } = accepted(await proving);
    await mkdir(String(out), { recursive: true });
    for (const { index, proof } of proofs)
      await writeOutput(join(String(out), `${index}.tlog-proof`), (draft) => writeFile(draft, proof));
    const rows = proofs.map(({ proof: _, ...one }) => ({ ...one, file: join(String(out), `${one.index}.tlog-proof`) }));
    const lines = rows.map(({ file, stream, revision, type }) => `${file}  ${stream}@${revision}  ${type}`);
    const more = unsealed === 0 ? [] : [`not sealed yet: ${unsealed}; try again in 10 s`];
    return { json: { proofs: rows, unsealed }, text: [...lines, ...more].join('\n'), isBad: proofs.length === 0 };
  },
};

const verifyFolder = async (folder: string, keys: readonly string[], checkpoints: readonly string[]) => {
  try {
    return await verifyExport(folder, { keys, checkpoints });
  } catch (error) {
    throw new UsageError(printable(`${folder} can't be verified: ${(error as Error).message}`));
  }
};

const verify: CliCommand = {
  name: 'audit verify',
  summary: 'Verify an export or, without one, the whole event log against the sealed tree and its checkpoints',
  args: [{ name: 'export', optional: true }],
  options: {
    key: {
      description:
        'with an export: trust only these public keys, separated by commas; default: those that the export names',
    },
    checkpoint: { description: 'with an export: files of checkpoints received before, separated by commas' },
  },
  run: async (world, { args: [folder], options: { key, checkpoint } }, output) => {
    if (folder !== undefined) {
      const { faults, summary } = await verifyFolder(folder, listOf(key), listOf(checkpoint));
      const isBad = faults.length > 0;
      const lines = faults.map(printable);
      return { json: { faults: lines }, text: isBad ? lines.join('\n') : printable(`verified: ${summary}`), isBad };
    }
    if (key !== undefined || checkpoint !== undefined)
      throw new UsageError('--key and --checkpoint need an export: name its folder');
    const { size, signed, faults } = await world.platform.verifyAuditLog(following(world, output));
    output.progress.clear();
    const lines = faults.map(
      ({ from, to, what }) => `${from === to ? `entry ${from}` : `entries ${from} to ${to}`}: ${what}`,
    );
    const verified = `verified: ${size} entries, ${signed} of them in signed checkpoints`;
    return { json: { size, signed, faults }, text: lines.join('\n') || verified, isBad: lines.length > 0 };
  },
};

const explain: CliCommand = {
  name: 'audit explain',
  summary: 'Tell a payment’s story: events, who caused them, postings, reports of the provider, webhooks',
  args: [{ name: 'payment' }],
  options: {
    language: { description: 'language of the text (default: en; --json has all)', choices: LANGUAGES },
  },
  reads: ['webhookDeliveries'],
  run: async ({ platform }, { args: [text = ''], options: { language = 'en' } }) => {
    const story = await platform.paymentStory(paymentIdOf(text));
    if (story === null) throw new UsageError('There is no such payment.');
    return { json: story, text: storyText(story, language as Language) };
  },
};

export const auditorCommands: readonly CliCommand[] = [exportCommand, prove, verify, explain];
