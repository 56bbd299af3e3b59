// The route of monthly statements (contract.md Statements, rule M12).
import { StreamParked } from '../../../application/ports/readModels/progress.ts';
import type { Statement } from '../../../application/statements/openStatement.ts';
import { type StatementTextFormat, statementText } from '../../../application/statements/statementText.ts';
import type { Tenant } from '../../../domain/kernel/ids.ts';
import { isRejection, reject } from '../../../domain/kernel/rejection.ts';
import {
  STATEMENT_FORMATS,
  type StatementFormatName,
  type StatementMonth,
  statementFileName,
  statementMonth,
} from '../../../domain/presentation/statement.ts';
import { isOfxCurrency } from '../../../domain/presentation/statementOfx.ts';
import { httpModule } from '../../kernel/httpModule.ts';
import { currencyCode, oneOf } from '../../kernel/query.ts';
import { pathParam, route } from '../../kernel/route.ts';
import type { AppServices } from '../../kernel/serverContext.ts';
import { renderStatement } from './statementPdf.ts';
import { STATEMENTS } from './tags.ts';

const CURRENCY = 'BRL';
const TYPES = { pdf: 'application/pdf', csv: 'text/csv', ofx: 'application/x-ofx' } as const;
/** Longest time to send a statement. */
const SEND_MS = 600_000;
/** The time after which a rejected request may find a free slot. */
const RETRY_AFTER_SECONDS = '5';

/** The path parameter of a month. */
export const monthParam = pathParam(
  'The month in São Paulo, such as `2026-11`.',
  (text) =>
    statementMonth(text) ??
    reject('invalid_filter', 'month must be a year and a month, such as 2026-11.', { param: 'month' }),
);

const encoder = new TextEncoder();

async function* encoded(texts: AsyncIterable<string>): AsyncGenerator<Uint8Array> {
  for await (const text of texts) yield encoder.encode(text);
}

const streamed = (statement: Statement, format: StatementTextFormat) => ({
  chunks: encoded(statementText(statement, format)),
  sendMs: SEND_MS,
  close: statement.close,
});

const pdf = async (statement: Statement, services: AppServices) => {
  try {
    const logo = await services.findLogo(statement.logo);
    return { bytes: await renderStatement(statement, logo?.bytes ?? null) };
  } finally {
    statement.close();
  }
};

export const statementResponses = {
  200: { kind: 'bytes', description: 'The statement as a download.', contentTypes: Object.values(TYPES) },
} as const;

interface Asked {
  readonly month: StatementMonth;
  readonly currency: string | undefined;
  readonly format: StatementFormatName | undefined;
}

/** Returns the statement of a month as a download. */
export const downloadStatement = async (
  services: AppServices,
  tenant: Tenant,
  { month, currency = CURRENCY, format = 'pdf' }: Asked,
) => {
  if (format === 'ofx' && !isOfxCurrency(currency))
    return reject('invalid_currency', `OFX has no currency ${currency}. Use csv or pdf.`, { param: 'currency' });
  if (services.parked.hasAnyOf('wallet', tenant) || services.parked.hasAnyOf('dailyBalances', tenant))
    throw new StreamParked('the ledger does not follow one of its payments');
  const statement = await services.openStatement(tenant, month, currency);
  if (isRejection(statement))
    return statement.code === 'rate_limited'
      ? { ...statement, headers: { 'Retry-After': RETRY_AFTER_SECONDS } }
      : statement;
  const content = format === 'pdf' ? await pdf(statement, services) : streamed(statement, format);
  const headers = { 'Content-Disposition': `attachment; filename="${statementFileName(statement.facts, format)}"` };
  const contentType = format === 'csv' ? `${TYPES.csv}; charset=utf-8` : TYPES[format];
  return { status: 200 as const, headers, contentType, ...content };
};

const statementRoute = route('GET', '/v1/statements/{month}', {
  operationId: 'getStatement',
  summary: 'Retrieve a monthly statement',
  description:
    'Returns the opening balance, every movement and the closing balance of a month in São Paulo. A month that has not ended is marked as provisional.',
  tag: STATEMENTS,
  principal: 'apiKey',
  reads: ['wallet', 'dailyBalances'],
  params: { month: monthParam },
  query: {
    currency: currencyCode('The currency. Default: BRL.'),
    format: oneOf(
      '`pdf` (the default) for people, `csv` for spreadsheets, `ofx` for accounting programs.',
      STATEMENT_FORMATS,
    ),
  },
  refusesUnknownQuery: true,
  responses: statementResponses,
  errors: ['invalid_filter', 'invalid_currency'],
  handle: async ({ caller: { tenant }, params: { month }, query: { currency, format }, services }) =>
    downloadStatement(services, tenant, { month, currency, format }),
});

export const statements = httpModule({ name: 'statements', chapters: [STATEMENTS], routes: [statementRoute] });
