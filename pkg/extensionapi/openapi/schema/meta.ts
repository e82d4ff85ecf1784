import { anyObject, array, boolean, integer, map, object, ref, type Schemas, string, time } from './schema.ts'

const plainText = { type: 'string' } as const

/** The fields of TypeMeta, which every kind has. */
export const typeMeta = {
  apiVersion: string('Group and version of the API that this object is written in, such as v1.'),
  kind: string('Name of the kind of this object, in CamelCase and singular.'),
}

/** The metav1 schemas that Kapis uses, with its own descriptions. */
export const metaSchemas: Schemas = {
  ObjectMeta: object('Metadata that every object carries.', {
    name: string('Name of the object, unique for its kind within its namespace or the cluster.'),
    generateName: string('Prefix that the server generated the name from, if none was given.'),
    namespace: string('Namespace of the object; empty for objects of the cluster.'),
    selfLink: string('No longer filled in by kube-apiserver.'),
    uid: string('Unique ID of the object: another object created later with the same name has another UID.'),
    resourceVersion: string(
      'Opaque version of the stored object. Compare it only for equality, or pass it to a watch to start from there.',
    ),
    generation: integer('Generation of the desired state; incremented with each change.', 'int64'),
    creationTimestamp: time('When the object was created, in UTC.'),
    deletionTimestamp: time('When the object will be deleted. Set by the server when deletion is requested.'),
    deletionGracePeriodSeconds: integer(
      'Seconds that the object has to terminate before it is removed.',
      'int64',
    ),
    labels: map('Keys and values to select objects by.', plainText),
    annotations: map(
      'Keys and values that tools store with the object. They cannot be selected by.',
      plainText,
    ),
    ownerReferences: array(
      'Owners of the object. It is garbage-collected when all of them are deleted.',
      ref('OwnerReference'),
    ),
    finalizers: array('Controllers that must finish before the object is removed.', plainText),
    managedFields: array('Fields set by each manager, for server-side apply.', ref('ManagedFieldsEntry')),
  }),
  OwnerReference: object(
    'Reference to the owner of an object, in the same namespace or cluster-scoped.',
    {
      apiVersion: string('Group and version of the owner.'),
      kind: string('Kind of the owner.'),
      name: string('Name of the owner.'),
      uid: string('UID of the owner.'),
      controller: boolean('Whether the owner is the controller that manages the object.'),
      blockOwnerDeletion: boolean(
        'Whether a foreground deletion of the owner waits until this object is deleted.',
      ),
    },
    ['apiVersion', 'kind', 'name', 'uid'],
  ),
  ManagedFieldsEntry: object('The fields that one manager has set.', {
    manager: string('Name of the manager.'),
    operation: string('How the fields were set: Apply or Update.'),
    apiVersion: string('Version of the API that the fields are named in.'),
    time: time('When the manager last changed the set.'),
    fieldsType: string('Format of fieldsV1: always FieldsV1.'),
    fieldsV1: anyObject('The fields, as a tree of names.'),
    subresource: string('Subresource through which the fields were set, or empty.'),
  }),
  ListMeta: object('Metadata of a list.', {
    selfLink: string('No longer filled in by kube-apiserver.'),
    resourceVersion: string(
      'Version of the state that the list shows; start a watch from it to miss no change.',
    ),
    continue: string('Token for the next page of the list; empty on the last page.'),
    remainingItemCount: integer('Number of items after this page; not set if a selector is used.', 'int64'),
    shardInfo: ref('ShardInfo', 'The shard that the list shows, if the request had a shardSelector.'),
  }),
  ShardInfo: object('The shard that a list shows.', {
    selector: string('The shardSelector of the request.'),
  }),
  Status: object('Response to a failed request.', {
    ...typeMeta,
    metadata: ref('ListMeta', 'Metadata of the response.'),
    status: string('Success or Failure.'),
    message: string('Description of the failure, for humans.'),
    reason: string('Reason of the failure in one word, for programs.'),
    details: ref('StatusDetails', 'Details of the failure.'),
    code: integer('HTTP status code.', 'int32'),
  }),
  StatusDetails: object('Details of a failure.', {
    name: string('Name of the object.'),
    group: string('Group of the resource.'),
    kind: string('Resource, or kind, of the object.'),
    uid: string('UID of the object.'),
    causes: array('Causes of the failure.', ref('StatusCause')),
    retryAfterSeconds: integer('Seconds after which to retry the request.', 'int32'),
  }),
  StatusCause: object('One cause of a failure.', {
    reason: string('Cause in one word, for programs.'),
    message: string('Description of the cause, for humans.'),
    field: string('Path of the field that caused it.'),
  }),
  WatchEvent: object(
    'One event of a watch.',
    {
      type: string('ADDED, MODIFIED, DELETED, BOOKMARK or ERROR.'),
      object: anyObject(
        'The new state of the object, or its last one if it was deleted; for ERROR a Status, for BOOKMARK an object with only a resourceVersion.',
      ),
    },
    ['type', 'object'],
  ),
}
