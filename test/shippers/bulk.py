# Sends documents by the bulk helper: bulk.py <url> <namespace> <count>, with CA and TOKEN in the environment.
import datetime
import os
import sys

import elasticsearch
from elasticsearch import helpers

url, namespace, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
headers = {'authorization': f"Bearer {os.environ['TOKEN']}"}
client = elasticsearch.Elasticsearch([url], ca_certs=os.environ['CA'], headers=headers)
now = datetime.datetime.now(datetime.timezone.utc)


def document(i):
    return {
        '_index': 'logs',
        '_op_type': 'create',
        '@timestamp': (now + datetime.timedelta(microseconds=i)).isoformat(),
        'message': f'line {i}',
        'i': i,
        'level': 'info',
        'ok': True,
        'ratio': 0.5,
        'http': {'status': 503},
        'tags': ['a', 'b'],
        'kubernetes': {'namespace': namespace, 'pod': {'name': 'py-0'}},
    }


taken, failed = helpers.bulk(client, (document(i) for i in range(count)), chunk_size=500)
print('.'.join(map(str, elasticsearch.__version__)), taken, failed)
