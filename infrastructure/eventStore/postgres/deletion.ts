// Deletes deliveries from the log, in the transaction that removes their rows and under the append lock (ADR 0008).
import type { DeletesDeliveries, EndedDelivery } from '../../../application/ports/deliveryRetention.ts';
import type { DeliveryId } from '../../../domain/kernel/ids.ts';

const DELETE = {
  name: 'delete_deliveries',
  text: 'SELECT event_store.delete_deliveries($1::text[], $2::bigint[]) AS id',
};

export const deletion = (ended: readonly EndedDelivery[]) => ({
  ...DELETE,
  values: [ended.map(({ id }) => id), ended.map(({ revision }) => revision)],
});

export const deleteDeliveries: DeletesDeliveries['deleteDeliveries'] = async (ended, _recordedBefore, tx) => {
  const { rows } = await tx.query<{ id: DeliveryId }>(deletion(ended));
  return new Set(rows.map(({ id }) => id));
};
