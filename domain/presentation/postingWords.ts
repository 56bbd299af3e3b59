// The effect of a ledger posting, in plain words. The aggregates hold the English words, which operators read in `ledger show`, too.
import { ACCOUNT_WORDS } from '../aggregates.ts';
import type { AccountWords, LedgerAccount } from '../kernel/journal.ts';
import type { Words } from './eventWords/words.ts';

const PT: { readonly [account in LedgerAccount]: AccountWords } = {
  merchant_available: ['para o saldo disponível do lojista', 'do saldo disponível do lojista'],
  merchant_pending: ['para o saldo pendente do lojista', 'do saldo pendente do lojista'],
  merchant_retained: ['retido por uma disputa', 'liberado de uma disputa'],
  refunds_in_transit: ['a caminho do pagador', 'chegou ao pagador ou voltou'],
  payouts_in_transit: ['a caminho do lojista', 'chegou ao lojista ou voltou'],
  provider_clearing: ['pago pelo provedor', 'recebido pelo provedor'],
  provider_fees: ['tarifa do provedor', 'tarifa do provedor devolvida'],
  platform_fees: ['para a conta da plataforma', 'pago pela plataforma'],
  payer_returns: ['devido ao pagador', 'não mais devido ao pagador'],
  disputes: ['tomado por uma disputa', 'liberado da conta de disputas'],
};

/** Returns the effect of a posting of this amount, in words. Signed minor units; credit is positive. */
export const wordsOfPosting = (account: LedgerAccount, amount: number): Words => {
  const side = amount > 0 ? 0 : 1;
  return { en: ACCOUNT_WORDS[account][side], pt: PT[account][side] };
};
