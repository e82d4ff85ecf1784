import java.util.concurrent.CountDownLatch;
import org.codelibs.opensearch.runner.OpenSearchRunner;

/** Runs an OpenSearch node of any version on loopback until SIGTERM. Usage: java OpenSearchNode.java FOLDER HTTP-PORT */
public class OpenSearchNode {
    public static void main(String[] args) throws Exception {
        final int port = Integer.parseInt(args[1]);
        final CountDownLatch end = new CountDownLatch(1);
        final OpenSearchRunner runner = new OpenSearchRunner();
        runner.onBuild((node, settings) -> {
            settings.put("http.host", "127.0.0.1");
            settings.put("network.host", "127.0.0.1");
            settings.put("http.port", port);
            // Disabled: it rejects new indices if the disk is 90 % full, with files of any program.
            settings.put("cluster.routing.allocation.disk.threshold_enabled", false);
        });
        // A unique cluster name: otherwise concurrently started nodes could form a cluster.
        // The runner uses the port after its base port, up to its maximum port.
        runner.setMaxHttpPort(port + 1);
        runner.build(OpenSearchRunner.newConfigs().basePath(args[0]).clusterName("kapis-" + port).numOfNode(1)
                .baseHttpPort(port - 1).useLogger());
        Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            try {
                runner.close();
            } catch (Exception e) {
                e.printStackTrace();
            }
        }));
        end.await();
    }
}
