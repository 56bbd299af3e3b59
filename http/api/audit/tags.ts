// Chapter of the audit log's routes.
import type { Tag } from '../../kernel/route.ts';

export const AUDIT: Tag = {
  name: 'Audit log',
  description:
    'The transparency log over the event log, for auditors and witnesses, as c2sp.org/tlog-tiles defines it.',
};
