import { payerTaxIdOf } from '../pix/taxId.ts';
import type { IncomingPayment } from './transaction.ts';

/** The bare tax id of whoever paid; null when the bank does not name anybody by it (M5). */
export const payerTaxId = ({ payer }: IncomingPayment): string | null => payerTaxIdOf(payer.document);
