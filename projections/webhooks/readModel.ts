import { readModel } from '../engine/readModel.ts';
import { deliveriesForAnalysts } from './analysts.ts';
import { deadLetterReads } from './deadLetters.ts';
import { expiredDeliveries } from './expiry.ts';
import { deliveryViews } from './lists.ts';
import { deliveriesOfPayment } from './ofPayment.ts';
import { personalDeliveries } from './personal.ts';
import { webhookDeliveriesProjection, webhookEndpointsProjection } from './projection.ts';
import { deliveryReads, endpointReads, endpointViews } from './queries.ts';

export const webhookEndpoints = readModel({
  projection: webhookEndpointsProjection,
  views: (db) => ({ endpoints: endpointViews(db) }),
  reads: ({ reads }, caughtUp) => ({ endpoints: endpointReads(reads, caughtUp) }),
});

export const webhookDeliveries = readModel({
  projection: webhookDeliveriesProjection,
  analysts: deliveriesForAnalysts,
  views: (db) => ({ deliveries: deliveryViews(db) }),
  operatorsReads: (db) => ({ deadLetters: deadLetterReads(db), deliveriesOfPayment: deliveriesOfPayment(db) }),
  reads: ({ reads, derived, store }) => ({
    deliveries: deliveryReads(reads),
    personalDeliveries: personalDeliveries(reads),
    expired: expiredDeliveries(derived, store),
  }),
});
