// The audit log: a Merkle tree over the event log, with signed checkpoints (ADR 0015).
import { capability } from '../core/capability.ts';
import type { EventStore } from '../ports/eventStore.ts';
import { type AnchorNeeds, sendToAnchors } from './anchors.ts';
import { type AuditingNeeds, auditing } from './auditing.ts';
import { AuditLog, type AuditLogNeeds } from './auditLog.ts';
import { type AuditorNeeds, findAuditor } from './auditors.ts';
import { type OperateAuditNeeds, operateAudit } from './operateAudit.ts';
import { paymentHistory, type StoryNeeds } from './paymentStory.ts';
import { Sealer, type SealerNeeds } from './sealer.ts';
import { sealingLagOf } from './sealingLag.ts';

interface AuditNeeds extends SealerNeeds, AuditLogNeeds, AnchorNeeds, AuditorNeeds, OperateAuditNeeds, StoryNeeds {
  readonly auditAnchors: OperateAuditNeeds['auditAnchors'];
  readonly store: EventStore;
  readonly auditSettings: AuditLogNeeds['auditSettings'];
  readonly auditTree: AuditLogNeeds['auditTree'];
  readonly auditKeys: OperateAuditNeeds['auditKeys'];
}

const partsOf = (needs: AuditNeeds) => {
  const sealer = new Sealer(needs);
  needs.store.onRestored(() => sealer.forget());
  return { ...needs, sealer, sealingLag: sealingLagOf(needs), auditLog: new AuditLog(needs) };
};

export const audit = capability({
  name: 'audit',
  parts: partsOf,
  upkeep: [
    {
      failure: 'event log could not be sealed',
      pattern: '*/2 * * * * *',
      onlyLeader: true,
      run: ({ sealer }) => sealer.seal(),
    },
    {
      failure: 'checkpoints could not be sent to anchors',
      pattern: '*/10 * * * * *',
      onlyLeader: true,
      run: (needs) => sendToAnchors(needs),
    },
    {
      failure: 'old checkpoints could not be thinned out',
      pattern: '0 17 * * * *',
      onlyLeader: true,
      run: ({ auditTree }) => auditTree.thinOut(),
    },
  ],
  gauges: [
    {
      name: 'audit_tree_size',
      help: 'Leaves of the audit log.',
      read: async ({ auditTree }) => (await auditTree.find())?.size ?? 0,
    },
    {
      name: 'audit_lag_seconds',
      help: 'Age of the oldest event that the audit log doesn’t contain; -1 if the event log can’t be read from there.',
      read: async ({ sealingLag }) => (await sealingLag.secondsSoon()) ?? -1,
    },
    {
      name: 'audit_stopped',
      help: '1 while sealing is stopped, because the event log differs from what was sealed. Must be 0.',
      read: async ({ auditLog }) => ((await auditLog.stopped()) === null ? 0 : 1),
    },
  ],
  useCases: ({ auditLog, ...needs }) => ({
    auditLog,
    findAuditor: findAuditor(needs),
    paymentHistory: paymentHistory(needs),
  }),
  operators: (needs: OperateAuditNeeds & AuditingNeeds) => ({ ...operateAudit(needs), ...auditing(needs) }),
});
