// Settles a stored notification of any kind as the product does, with substitutes for the rest of the program.
import type { CommandHandler } from '../../application/core/commandHandler.ts';
import { handleNotification, type Settler, takeFact, takePayment } from '../../application/payments/settle.ts';
import type { PaymentProviders } from '../../application/ports/paymentProvider.ts';
import type { ProviderNotification, ProviderNotifications } from '../../application/ports/providerNotifications.ts';
import type { PaymentMethod } from '../../domain/charge/methods.ts';
import type { PaymentId } from '../../domain/kernel/ids.ts';

interface Needs {
  readonly commands: CommandHandler;
  readonly notifications: ProviderNotifications;
  readonly providers: PaymentProviders;
  readonly settler: Settler;
  readonly takeFacts: (paymentId: PaymentId) => Promise<void>;
  readonly takeCases: (paymentId: PaymentId) => Promise<void>;
  readonly resumeIssuing: (paymentId: PaymentId, method: PaymentMethod | null) => Promise<void>;
}

export const settleNotification = ({ notifications, takeCases, resumeIssuing, ...given }: Needs) => {
  const takeCase = async ({ paymentId }: ProviderNotification): Promise<true> => {
    await takeCases(paymentId);
    return true;
  };
  const afterMoney = async (notification: ProviderNotification) => void (await takeCase(notification));
  const needs = {
    ...given,
    issuer: { resumeFor: resumeIssuing },
    takeReturns: async () => undefined,
    notificationWork: { afterMoney, handle: (notification: ProviderNotification) => handle(notification) },
  };
  const kinds = new Map([
    ['payment', takePayment(needs)],
    ['fact', takeFact(needs)],
  ]);
  const handle = (notification: ProviderNotification): Promise<boolean> =>
    (kinds.get(notification.kind) ?? takeCase)(notification);
  return handleNotification({ ...needs, notifications });
};
