// Commands about the personal data of payers: find, report, erase and scrub (rules L1–L5).
import { writeFile } from 'node:fs/promises';
import type { HeldPage, OwnerId, Subject } from '../../application/privacy/findPerson.ts';
import { type ErasedView, erasedView, type HeldView, heldView } from '../../application/privacy/heldView.ts';
import { type NamedSubject, SUBJECT_NAMES, subjectNamed } from '../../application/privacy/namedSubject.ts';
import { isRejection, type Rejection } from '../../domain/kernel/rejection.ts';
import { renderPrivacyReport } from '../../http/api/privacy/reportPdf.ts';
import { accepted, byOf, type CliCommand, type CliInput, type CliWorld, UsageError } from '../cli/command.ts';
import { amountText, type Screen, table } from '../cli/output.ts';
import { writeOutput } from '../cli/outputFile.ts';
import { ScrubRefused, scrub } from './scrub.ts';

type Options = CliInput['options'];

const SUBJECT_OPTIONS = {
  document: { description: 'a CPF or CNPJ (other users of this machine can see arguments)' },
  email: { description: 'an email address' },
  payment: { description: 'a ch_ or tx_ id' },
  payout: { description: 'a po_ id; that of a refund finds its payment (to erase it, name the payment)' },
} as const;

/** Returns the subject of the options. Throws UsageError unless exactly one is given, and valid. */
const subjectOf = (options: Options): Subject => {
  const named: NamedSubject = Object.fromEntries(
    SUBJECT_NAMES.flatMap((name) => (typeof options[name] === 'string' ? [[name, options[name]]] : [])),
  );
  const subject = subjectNamed(named);
  if (isRejection(subject) && subject.param === undefined)
    throw new UsageError('name exactly one of --document, --email, --payment and --payout');
  return accepted(subject);
};

const HEAD = ['CREATED', 'ID', 'ACCOUNT', 'MODE', 'AMOUNT', 'KEPT UNTIL', 'ERASED'];
const cells = (held: HeldView): readonly string[] => [
  held.createdAt,
  held.id,
  held.accountId,
  held.mode,
  `${held.currency} ${amountText(held.amount, held.currency)}`,
  held.keptUntil ?? 'not ended',
  held.erasedAt ?? '-',
];

/** Yields all pages. Throws UsageError if one is rejected. */
async function* allPages<Page extends HeldPage>(
  pageAfter: (after: OwnerId | null) => Promise<Page | Rejection>,
): AsyncGenerator<Page, void> {
  let after: OwnerId | null = null;
  do {
    const page: Page = accepted(await pageAfter(after));
    yield page;
    after = page.next;
  } while (after !== null);
}

/** Names the option with which the data can be erased now. */
const withOption = (refusal: Rejection): Rejection =>
  refusal.code === 'retention_not_passed'
    ? { ...refusal, message: `${refusal.message} Add --despite-retention to do so.` }
    : refusal;

const heldBy = async ({ platform }: CliWorld, subject: Subject): Promise<readonly HeldView[]> => {
  const all: HeldView[] = [];
  for await (const { held } of allPages((after) => platform.findPersonalData(subject, after)))
    all.push(...held.map(heldView));
  return all;
};

const READS = ['payments', 'payouts', 'disputes'] as const;

const find: CliCommand = {
  name: 'privacy find',
  summary: 'Find the payments and payouts of all accounts that hold a person’s data',
  options: SUBJECT_OPTIONS,
  reads: READS,
  run: async (world, { options }) => {
    const views = await heldBy(world, subjectOf(options));
    const found = views.map(({ data: _, disputes: __, ...one }) => one);
    const text = (screen: Screen) => (views.length === 0 ? 'nothing is held' : table(screen, HEAD, views.map(cells)));
    return { json: { found }, text };
  },
};

const report: CliCommand = {
  name: 'privacy report',
  summary: 'Report what is held about a person, for an access request (LGPD, article 18)',
  options: { ...SUBJECT_OPTIONS, pdf: { description: 'write the report to this file as a PDF in Portuguese' } },
  reads: READS,
  run: async (world, { options }) => {
    const data = await heldBy(world, subjectOf(options));
    const path = options['pdf'];
    if (typeof path !== 'string') return { json: { data }, text: JSON.stringify({ data }, null, 2) };
    const pdf = await renderPrivacyReport(data, world.accounts.realNow());
    await writeOutput(path, (draft) => writeFile(draft, pdf, { mode: 0o600, flag: 'wx' }), { isNew: true });
    return { json: { file: path, payments: data.length }, text: `${path} lists ${data.length} payments` };
  },
};

const erase: CliCommand = {
  name: 'privacy erase',
  summary: 'Erase a person’s data: destroys the keys; a worker then deletes files and blanks rows, within seconds',
  options: {
    ...SUBJECT_OPTIONS,
    reason: { description: 'why, without personal data; kept for ever', required: true },
    'despite-retention': { description: 'also erase data that the law still requires', flag: true },
  },
  changes: 'always',
  reads: READS,
  run: async (world, { options }) => {
    const order = { reason: String(options['reason']).trim(), despiteRetention: options['despite-retention'] === true };
    const subject = subjectOf(options);
    const views: ErasedView[] = [];
    const erasePage = async (after: OwnerId | null) => {
      const page = await world.platform.erasePersonalData(subject, order, byOf(world), after);
      return isRejection(page) ? withOption(page) : page;
    };
    for await (const { erased } of allPages(erasePage))
      views.push(...erased.map((one) => erasedView({ ...one, refused: one.refused && withOption(one.refused) })));
    const rows = views.map(({ id, outcome, because }) => [id, outcome.replaceAll('_', ' '), because ?? '']);
    return {
      json: { erased: views },
      text: (screen: Screen) => table(screen, ['ID', 'OUTCOME', ''], rows),
      isBad: views.some(({ outcome }) => outcome === 'refused'),
    };
  },
};

const scrubCommand: CliCommand = {
  name: 'privacy scrub',
  summary:
    'Remove erased data from the database’s files: rebuilds read models, rewrites tables and overwrites old log files',
  changes: 'always',
  run: async (world, _, { progress }) => {
    const rebuildAll = () =>
      world.platform.rebuild('all', world.signal, ({ share, what }) => progress.show(share / 2, what));
    const onProgress = (share: number, what: string) => progress.show(share, what);
    const done = await scrub({ openSession: world.storage.openSession, rebuildAll, onProgress }).catch((error) => {
      throw error instanceof ScrubRefused ? new UsageError(error.message) : error;
    });
    const text = (screen: Screen) =>
      [
        table(
          screen,
          ['TABLE', 'LOCKED FOR (MS)'],
          done.tables.map(({ table: name, blockedMs }) => [name, String(blockedMs)]),
        ),
        `${done.walFilesOverwritten} old files of the write-ahead log overwritten`,
      ].join('\n');
    return { json: done, text };
  },
};

export const commands: readonly CliCommand[] = [find, report, erase, scrubCommand];
