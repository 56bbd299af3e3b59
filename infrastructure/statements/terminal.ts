// The CLI command that writes a merchant's monthly statement to a file.
import { createWriteStream } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Statement } from '../../application/statements/openStatement.ts';
import { statementText } from '../../application/statements/statementText.ts';
import { ACCOUNT } from '../../domain/account/account.ts';
import type { Mode } from '../../domain/kernel/ids.ts';
import {
  STATEMENT_FORMATS,
  type StatementFormatName,
  statementFileName,
  statementMonth,
} from '../../domain/presentation/statement.ts';
import { isOfxCurrency } from '../../domain/presentation/statementOfx.ts';
import { renderStatement } from '../../http/api/statements/statementPdf.ts';
import { accepted, accountIdOf, type CliCommand, type CliWorld, UsageError } from '../cli/command.ts';
import { writeOutput } from '../cli/outputFile.ts';
import { logos } from '../logos/logos.ts';

const MODES: readonly Mode[] = ['live', 'test'];
const FORMATS = STATEMENT_FORMATS;

const write = async (
  world: CliWorld,
  statement: Statement,
  format: StatementFormatName,
  file: string,
): Promise<void> => {
  const { signal } = world;
  if (format !== 'pdf')
    return pipeline(Readable.from(statementText(statement, format)), createWriteStream(file), { signal });
  const { logo } = statement;
  const image = logo === null ? null : await logos(world.storage.operations).find(logo);
  await writeFile(file, await renderStatement(statement, image?.bytes ?? null), { signal });
};

const statement: CliCommand = {
  name: 'statement',
  summary: 'Write the statement of an account for a month of São Paulo, such as 2026-11, to a file',
  args: [{ name: 'account' }, { name: 'month' }],
  options: {
    mode: { description: 'live (the default) or test', choices: MODES },
    currency: { description: 'the currency; BRL by default' },
    format: { description: 'pdf (the default), csv or ofx', choices: FORMATS },
    out: {
      description:
        'the file; by default named after the month, in this directory; an existing one is replaced when complete',
    },
  },
  reads: ['wallet', 'dailyBalances'],
  run: async (world, { args: [account, text], options }) => {
    const { mode = 'live', currency = 'BRL', format = 'pdf' } = options;
    const month = statementMonth(text as string);
    if (month === null) throw new UsageError(`"${text}" is not a month: use a year and a month, such as 2026-11`);
    if (!/^[A-Z0-9]{3,8}$/.test(String(currency))) throw new UsageError('--currency must be a code such as BRL');
    if (format === 'ofx' && !isOfxCurrency(String(currency)))
      throw new UsageError(`OFX has no currency ${currency}: use --format csv or pdf`);
    const tenant = { accountId: accountIdOf(account as string), mode: mode as Mode };
    const opened = accepted(await world.platform.openStatement(tenant, month, String(currency)));
    const { facts } = opened;
    const file = String(options['out'] ?? statementFileName(facts, String(format)));
    try {
      await writeOutput(file, (draft) => write(world, opened, format as StatementFormatName, draft));
    } finally {
      opened.close();
    }
    const { isProvisional, now } = facts;
    return {
      json: { file, account: ACCOUNT.idPrefix + tenant.accountId, month: facts.month, isProvisional },
      text: `wrote ${file}${isProvisional ? `, provisional as of ${now}` : ''}`,
    };
  },
};

export const commands = [statement];
