// Writes a statement as text, page by page, so that memory doesn't grow with the month. The closing balance is the opening balance plus the
// written movements.
import { addSums, type MerchantSums } from '../../domain/kernel/journal.ts';
import type { Movement, StatementFacts } from '../../domain/presentation/statement.ts';
import { CSV } from '../../domain/presentation/statementCsv.ts';
import { OFX } from '../../domain/presentation/statementOfx.ts';
import type { Statement } from './openStatement.ts';

/** A text format of statements. Each method returns whole lines. */
interface StatementFormat {
  head(facts: StatementFacts, opening: MerchantSums): string;
  /** `balance`: after the movement. */
  line(facts: StatementFacts, movement: Movement, balance: MerchantSums): string;
  end(facts: StatementFacts, closing: MerchantSums): string;
}

const FORMATS = { csv: CSV, ofx: OFX } as const satisfies { readonly [format: string]: StatementFormat };
export type StatementTextFormat = keyof typeof FORMATS;

export async function* statementText(
  { facts, opening, movements }: Pick<Statement, 'facts' | 'opening' | 'movements'>,
  format: StatementTextFormat,
): AsyncGenerator<string> {
  const { head, line, end }: StatementFormat = FORMATS[format];
  let balance = await opening();
  yield head(facts, balance);
  for await (const page of movements()) {
    const lines = page.map((movement) => {
      balance = addSums(balance, movement);
      return line(facts, movement, balance);
    });
    if (lines.length > 0) yield lines.join('');
  }
  yield end(facts, balance);
}
