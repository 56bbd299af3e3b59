// The status of an instrument in the format of the standard API (pix.md).
import type { InstrumentRequest, ProviderStatus } from '../../../application/ports/paymentProvider.ts';
import { secondsBetween } from '../../../domain/kernel/time.ts';
import { amountText } from '../../../domain/pix/brCode.ts';
import type { IncomingPayment } from '../../../domain/transaction/incomingPayment.ts';

export const standardStatus = (
  request: InstrumentRequest,
  payments: readonly IncomingPayment[],
  isCancelled: boolean,
): ProviderStatus => {
  const status = payments.length > 0 ? 'CONCLUIDA' : isCancelled ? 'REMOVIDA_PELO_USUARIO_RECEBEDOR' : 'ATIVA';
  const pix = payments.map(({ providerPaymentId: endToEndId, amount, paidAt }) => ({
    endToEndId,
    txid: request.txid,
    valor: amountText(amount),
    horario: paidAt,
  }));
  return {
    status,
    raw: {
      txid: request.txid,
      status,
      calendario: { criacao: request.createdAt, expiracao: secondsBetween(request.createdAt, request.expiresAt) },
      valor: { original: amountText(request.amount) },
      ...(pix.length > 0 && { pix }),
    },
  };
};
