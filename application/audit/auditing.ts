// Operators' use cases for auditors: exports, proofs, verification, and the story of a payment.
import type { PaymentId, StreamName } from '../../domain/kernel/ids.ts';
import type { EventStore } from '../ports/eventStore.ts';
import { type ExportNeeds, exportLog } from './exportLog.ts';
import { paymentStory, type StoryNeeds, streamsOfPayment } from './paymentStory.ts';
import { type ProofNeeds, proveEntries } from './proveEntries.ts';
import { verifyLog } from './verifyLog.ts';

export interface AuditingNeeds extends ExportNeeds, ProofNeeds, StoryNeeds {
  readonly store: EventStore;
  readonly auditTree: ExportNeeds['auditTree'];
}

export const auditing = (needs: AuditingNeeds) => {
  const prove = proveEntries(needs);
  return {
    exportAuditLog: exportLog(needs),
    verifyAuditLog: verifyLog(needs),
    proveEvent: (stream: StreamName, revision: number) => prove([stream], revision),
    provePayment: async (id: PaymentId) => prove(await streamsOfPayment(needs, id), null),
    paymentStory: paymentStory(needs),
  };
};
