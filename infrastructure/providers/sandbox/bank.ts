// The sandbox bank: the outside world of test mode. It keeps its books durably in a schema of its own, and is reached only through
// the provider port and its notifications (design §7). Provider trouble is asked for by a charge's metadata (decisions X6).
import type { InstrumentRequest, PaymentProvider, Tenant } from '../../../application/ports/paymentProvider.ts';
import type { Sql } from '../../../application/ports/sql.ts';
import { type Minor, toMinor } from '../../../domain/kernel/money.ts';
import { fromMillis } from '../../../domain/kernel/time.ts';
import type { Receipt } from '../../../domain/transaction/transaction.ts';
import { sandboxInstrument } from './instrument.ts';

interface PixRow {
  end_to_end_id: string;
  amount: number;
  payer_name: string | null;
  payer_document: string | null;
  paid_ms: number;
}
const COLUMNS =
  'end_to_end_id, amount, payer_name, payer_document, (extract(epoch FROM paid_at) * 1000)::bigint AS paid_ms';
const receiptOf = (row: PixRow): Receipt => ({
  endToEndId: row.end_to_end_id,
  amount: toMinor(row.amount),
  payer: { name: row.payer_name, document: row.payer_document },
  paidAt: fromMillis(row.paid_ms),
});

/** How long `slow` takes to answer. */
const SLOW_MS = 2_000;

type Trouble = 'timeout' | 'unavailable' | 'rejected' | 'slow' | null;
const troubleOf = ({ metadata }: InstrumentRequest): Trouble => {
  const asked = metadata['sandbox_provider'];
  return asked === 'timeout' || asked === 'unavailable' || asked === 'rejected' || asked === 'slow' ? asked : null;
};

export class SandboxBank implements PaymentProvider {
  readonly name = 'sandbox';
  readonly #db: Sql;
  readonly #wait: (ms: number) => Promise<void>;

  constructor(db: Sql, wait: (ms: number) => Promise<void>) {
    this.#db = db;
    this.#wait = wait;
  }

  issueLocally(request: InstrumentRequest) {
    return troubleOf(request) === null ? sandboxInstrument(request) : null;
  }

  async issue(request: InstrumentRequest): ReturnType<PaymentProvider['issue']> {
    const trouble = troubleOf(request);
    if (trouble === 'unavailable') return { kind: 'unavailable' };
    if (trouble === 'rejected')
      return { kind: 'refused', reason: 'The sandbox provider rejected the charge.', providerErrorCode: 'rejected' };
    if (trouble === 'slow') await this.#wait(SLOW_MS);
    await this.#db.query(
      'INSERT INTO sandbox_bank.instruments (account_id, txid) VALUES ($1, $2) ON CONFLICT DO NOTHING',
      [request.accountId, request.txid],
    );
    // The bank made it, and its answer is lost on the way.
    return trouble === 'timeout' ? { kind: 'unknown' } : { kind: 'issued', instrument: sandboxInstrument(request) };
  }

  async findInstrument(request: InstrumentRequest): ReturnType<PaymentProvider['findInstrument']> {
    const { rowCount } = await this.#db.query(
      'SELECT FROM sandbox_bank.instruments WHERE account_id = $1 AND txid = $2',
      [request.accountId, request.txid],
    );
    return { kind: 'known', value: rowCount === 1 ? sandboxInstrument(request) : null };
  }

  async receiptsOf({ accountId }: Tenant, txid: string): ReturnType<PaymentProvider['receiptsOf']> {
    const text = `SELECT ${COLUMNS} FROM sandbox_bank.pix WHERE account_id = $1 AND txid = $2 ORDER BY paid_at, end_to_end_id`;
    const { rows } = await this.#db.query<PixRow>(text, [accountId, txid]);
    return { kind: 'known', value: rows.map(receiptOf) };
  }

  async findReceipt({ accountId }: Tenant, endToEndId: string): ReturnType<PaymentProvider['findReceipt']> {
    const text = `SELECT ${COLUMNS} FROM sandbox_bank.pix WHERE account_id = $1 AND end_to_end_id = $2`;
    const { rows } = await this.#db.query<PixRow>({
      name: 'sandbox_find_receipt',
      text,
      values: [accountId, endToEndId],
    });
    return { kind: 'known', value: rows[0] ? receiptOf(rows[0]) : null };
  }

  async returnReceipt(
    { accountId }: Tenant,
    back: { endToEndId: string; returnId: string; amount: Minor },
  ): Promise<'accepted'> {
    await this.#db.query(
      'INSERT INTO sandbox_bank.returns (account_id, return_id, end_to_end_id, amount) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING',
      [accountId, back.returnId, back.endToEndId, back.amount],
    );
    return 'accepted';
  }
}
