import java.util.concurrent.CountDownLatch;
import org.codelibs.elasticsearch.runner.ElasticsearchClusterRunner;

/** One Elasticsearch node of 7.0 to 7.10 on loopback, until SIGTERM. Usage: java ElasticsearchRunnerNode.java FOLDER HTTP-PORT */
public class ElasticsearchRunnerNode {
    public static void main(String[] args) throws Exception {
        final int port = Integer.parseInt(args[1]);
        final CountDownLatch end = new CountDownLatch(1);
        final ElasticsearchClusterRunner runner = new ElasticsearchClusterRunner();
        runner.onBuild((node, settings) -> {
            settings.put("http.host", "127.0.0.1");
            settings.put("network.host", "127.0.0.1");
            settings.put("http.port", port);
            // It would refuse new indices on a disk that is nine tenths full of what others have there.
            settings.put("cluster.routing.allocation.disk.threshold_enabled", false);
        });
        // A name of its own: of two that start here side by side, one may join the other.
        // The runner counts ports up from its base, and refuses those over its maximum.
        runner.setMaxHttpPort(port + 1);
        runner.build(ElasticsearchClusterRunner.newConfigs().basePath(args[0]).clusterName("kapis-" + port).numOfNode(1)
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
