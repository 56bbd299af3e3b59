// Replacements for the outside world: a test gateway resolves no foreign names, sends no mail, and may run no schedules.
import type { MailSender } from '../../application/ports/mail.ts';
import type { StartSchedule } from '../../infrastructure/system/schedule.ts';
import { type AddressResolver, hostsFile, hostsFirst } from '../../infrastructure/webhookSender/resolver.ts';

/** For tests that run owed work themselves, so that the gateway doesn’t run it first. */
export const NO_SCHEDULES: StartSchedule = () => async () => undefined;

export const NO_MAIL: MailSender = {
  send: async () => undefined,
  forget: async () => undefined,
  close: () => undefined,
};

const noNames: AddressResolver = {
  resolve: async (name) => {
    throw Object.assign(new Error(`${name} is not looked up in tests`), { code: 'ENOTFOUND' });
  },
  close: () => undefined,
};
/** Resolves only names of this machine, so that tests need no network. */
export const OWN_NAMES: AddressResolver = hostsFirst(hostsFile(), noNames);
