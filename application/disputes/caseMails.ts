// Mails the account's contact when a case opens, when evidence is requested, when the deadline is near, and when the case ends: one mail
// per event (Q7).

import Type from 'typebox';
import { MED_CASE } from '../../domain/dispute/aggregate.ts';
import type { MedCase } from '../../domain/dispute/medCase.ts';
import type { MedCaseId } from '../../domain/kernel/ids.ts';
import { PAYMENT } from '../../domain/payment/aggregate.ts';
import { assertExists } from '../../domain/payment/payment.ts';
import type { Accounts } from '../core/accounts.ts';
import { jobKind } from '../core/capability.ts';
import type { CommandHandler } from '../core/commandHandler.ts';
import { caseMailIdOf } from '../core/derivedIds.ts';
import { idOf, payloadOf } from '../core/payloads.ts';
import { enqueue, following, processManager, reacting } from '../core/reactions.ts';
import type { PayloadOf } from '../ports/jobs.ts';
import type { MailSender } from '../ports/mail.ts';
import { caseMail, isMailed } from './caseMail.ts';

export const mailCase = jobKind({
  name: 'mailCase',
  /** `revision` is the event's revision. */
  payload: payloadOf({ caseId: idOf<MedCaseId>(), revision: Type.Integer() }),
  subjectOf: ({ caseId, revision }) => `${caseId} ${revision}`,
});

const mail = ({ subject, revision }: { readonly subject: string; readonly revision: number }) => [
  enqueue(mailCase, { caseId: subject as MedCaseId, revision }),
];

export const caseMailing = processManager({
  name: 'caseMailing',
  movesMoney: false,
  reactions: {
    medCase: reacting(MED_CASE.groups, {
      reads: following(isMailed, mail),
      ignores: ['evidence', 'review', 'reports', 'erasure'],
    }),
  },
});

/** Sends the mail about an event. Idempotent: the mail's id derives from the event. */
export const sendCaseMail =
  ({
    commands,
    accounts,
    mail: sender,
    publicUrl,
  }: {
    readonly commands: CommandHandler;
    readonly accounts: Accounts;
    readonly mail: MailSender;
    /** The base of links, without a slash at the end. */
    readonly publicUrl: string;
  }) =>
  async ({ caseId, revision }: PayloadOf<typeof mailCase>): Promise<void> => {
    const around = await commands.loadAround(MED_CASE, MED_CASE.stream(caseId), revision);
    if (around === null || around.after.status === 'absent') return;
    const medCase: MedCase = around.after;
    const { paymentId, accountId } = medCase.terms;
    const { charge, transaction } = assertExists((await commands.load(PAYMENT, PAYMENT.stream(paymentId))).state);
    const dispute = transaction.status === 'settled' ? transaction.dispute : null;
    const method = dispute?.caseId === caseId ? dispute.method : null;
    const words = caseMail(around.event.type, medCase, { metadata: charge.terms.metadata, method }, publicUrl);
    if (words === null) return;
    const { email } = await accounts.get(accountId);
    await sender.send({ id: caseMailIdOf(caseId, revision), to: email, ...words });
  };
