# SPDX-License-Identifier: Apache-2.0
"""dayone's file of a node in sos reports: /usr/lib/python3*/site-packages/sos/report/plugins/dayone.py."""

from sos.report.plugins import Plugin, RedHatPlugin, DebianPlugin, UbuntuPlugin


class Dayone(Plugin, RedHatPlugin, DebianPlugin, UbuntuPlugin):
    """The network of an OpenShift node before kubelet"""

    short_desc = 'dayone, the network of an OpenShift node before kubelet'
    plugin_name = 'dayone'
    profiles = ('network', 'openshift', 'boot')
    files = ('/usr/bin/dayone', '/usr/local/bin/dayone')

    def setup(self):
        # Without secrets by itself, and within ten seconds.
        self.add_cmd_output('dayone collect', suggest_filename='dayone.json', timeout=30)
