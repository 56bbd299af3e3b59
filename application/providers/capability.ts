// Providers: connections to banks and payment institutions (rules V1–V7).
import { capability } from '../core/capability.ts';
import { type OperateReconciliationNeeds, operateReconciliation } from '../reconciliation/operateReconciliation.ts';
import {
  type ReconciliationNeeds,
  reconciliationGauges,
  reconciliationUpkeep,
  withReconciliationMemory,
} from '../reconciliation/reconciliation.ts';
import {
  type CallbackNeeds,
  type CallbackOperatorsNeeds,
  callbackGauges,
  callbackJobs,
  callbackUpkeep,
  callbackUseCases,
  operateCallbacks,
  returnsOf,
} from './callbacks.ts';
import {
  type CheckConnectionNeeds,
  checkProviderConnection,
  registerProviderWebhook,
  showProviderWebhook,
} from './checkConnection.ts';
import { type ConnectionGaugeNeeds, connectionGauges } from './connectionGauges.ts';
import {
  addProviderConnection,
  changeProviderConnection,
  type ManageConnectionsNeeds,
  removeProviderConnection,
  rotateProviderCallbackSecret,
  rotateProviderClientSecret,
  switchProviderConnection,
} from './manageConnections.ts';
import {
  connectionProblems,
  listConnections,
  showConnection,
  showing,
  type ViewConnectionsNeeds,
} from './viewConnections.ts';

type OperatorsNeeds = ManageConnectionsNeeds &
  ViewConnectionsNeeds &
  CheckConnectionNeeds &
  CallbackOperatorsNeeds &
  OperateReconciliationNeeds;

export const providers = capability({
  name: 'providers',
  parts: (needs: ConnectionGaugeNeeds & CallbackNeeds & ReconciliationNeeds) => withReconciliationMemory(needs),
  jobs: callbackJobs,
  upkeep: [...callbackUpkeep, ...reconciliationUpkeep<CallbackNeeds & ReconciliationNeeds>(returnsOf)],
  gauges: [...connectionGauges, ...callbackGauges, ...reconciliationGauges],
  useCases: callbackUseCases,
  operators: (needs: OperatorsNeeds) => ({
    listConnections: listConnections(needs),
    showConnection: showConnection(needs),
    connectionProblems: connectionProblems(needs),
    addProviderConnection: addProviderConnection(needs),
    changeProviderConnection: showing(needs, changeProviderConnection(needs)),
    switchProviderConnection: showing(needs, switchProviderConnection(needs)),
    removeProviderConnection: removeProviderConnection(needs),
    rotateProviderClientSecret: showing(needs, rotateProviderClientSecret(needs)),
    rotateProviderCallbackSecret: rotateProviderCallbackSecret(needs),
    checkProviderConnection: checkProviderConnection(needs),
    registerProviderWebhook: registerProviderWebhook(needs),
    showProviderWebhook: showProviderWebhook(needs),
    ...operateCallbacks(needs),
    ...operateReconciliation(needs),
  }),
});
