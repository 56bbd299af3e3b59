// Makes a gateway wait longer than in production before it reports that an effect is not visible yet.
import type { Gateway } from '../../infrastructure/boot/gateway.ts';

/** Longer than any pause of the machine. */
const PATIENCE_MS = 30_000;

/** While `isPatient` returns true, the gateway waits this long for effects in reads, deliveries and jobs. */
export const makePatient = ({ services, projected, reacted }: Gateway, isPatient: () => boolean): void => {
  const patience = (ms: number): number => (isPatient() ? Math.max(ms, PATIENCE_MS) : ms);
  for (const progress of [projected, reacted]) {
    const caughtUp = progress.caughtUp.bind(progress);
    progress.caughtUp = (ms, names, account) => caughtUp(patience(ms), names, account);
  }
  const { untilSeen, untilPaymentSeen, whenDelivered, whenClockDrained } = services;
  const patient: Pick<typeof services, 'untilSeen' | 'untilPaymentSeen' | 'whenDelivered' | 'whenClockDrained'> = {
    untilSeen: (ms, look) => untilSeen(patience(ms), look),
    untilPaymentSeen: (tenant, id, ms, look) => untilPaymentSeen(tenant, id, patience(ms), look),
    whenDelivered: (tenant, ms) => whenDelivered(tenant, patience(ms)),
    whenClockDrained: (account, ms) => whenClockDrained(account, patience(ms)),
  };
  Object.assign(services, patient);
};
