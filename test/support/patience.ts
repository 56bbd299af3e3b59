// A gateway that waits longer than in production before it says that something does not show yet.
import type { Gateway } from '../../infrastructure/boot/gateway.ts';

/** Longer than any machine stands still. */
const PATIENCE_MS = 30_000;

/** Has it wait so long for what is to show in reads, to be delivered, or to be worked off, while it is patient. */
export const makePatient = ({ services, projected, reacted }: Gateway, isPatient: () => boolean): void => {
  const patience = (ms: number): number => (isPatient() ? Math.max(ms, PATIENCE_MS) : ms);
  for (const progress of [projected, reacted]) {
    const caughtUp = progress.caughtUp.bind(progress);
    progress.caughtUp = (ms, names) => caughtUp(patience(ms), names);
  }
  const { untilSeen, whenDelivered, whenClockDrained } = services;
  const patient: Pick<typeof services, 'untilSeen' | 'whenDelivered' | 'whenClockDrained'> = {
    untilSeen: (ms, look) => untilSeen(patience(ms), look),
    whenDelivered: (tenant, ms) => whenDelivered(tenant, patience(ms)),
    whenClockDrained: (account, ms) => whenClockDrained(account, patience(ms)),
  };
  Object.assign(services, patient);
};
