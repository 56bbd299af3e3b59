// What a test gateway has instead of the world around it: it looks up no names, sends no mail, and its own schedules may stand still.
import type { MailSender } from '../../application/ports/mail.ts';
import type { StartSchedule } from '../../infrastructure/system/schedule.ts';
import { type AddressResolver, hostsFile, hostsFirst } from '../../infrastructure/webhookSender/resolver.ts';

/** For tests that look for owed work themselves: the gateway must not be quicker. */
export const NO_SCHEDULES: StartSchedule = () => async () => undefined;

export const NO_MAIL: MailSender = { send: async () => undefined, close: () => undefined };

const noNames: AddressResolver = {
  resolve: async (name) => {
    throw Object.assign(new Error(`${name} is not looked up in tests`), { code: 'ENOTFOUND' });
  },
  close: () => undefined,
};
/** Names of this machine alone are found, wherever the test runs. */
export const OWN_NAMES: AddressResolver = hostsFirst(hostsFile(), noNames);
