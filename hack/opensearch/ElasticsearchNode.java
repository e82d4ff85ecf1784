import java.io.IOException;
import java.lang.reflect.Constructor;
import java.lang.reflect.Method;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import java.util.stream.Stream;
import javax.tools.ToolProvider;
import org.elasticsearch.common.settings.Settings;
import org.elasticsearch.env.Environment;
import org.elasticsearch.node.InternalSettingsPreparer;
import org.elasticsearch.node.Node;

/**
 * One Elasticsearch node of 7.17 to 9 on loopback, until SIGTERM: the server with the modules that an index of lines needs. Of
 * these the transport is published, and must not stand on the class path; of the other there is a source. Usage: java -cp
 * LIBRARIES ElasticsearchNode.java FOLDER HTTP-PORT VERSION FOLDER-OF-LIBRARIES WORDS-PLUGIN-SOURCE
 */
public class ElasticsearchNode {
    public static void main(String[] args) throws Exception {
        final Path home = Path.of(args[0]);
        final String version = args[2];
        final boolean is7 = version.startsWith("7.");
        // Version 8 and later do not start before somebody said how they log.
        if (!is7) Class.forName("org.elasticsearch.common.logging.LogConfigurator").getMethod("configureESLogging").invoke(null);
        final Path modules = home.resolve("modules");
        if (!Files.exists(modules)) {
            final String transport = is7 ? "transport.Netty4Plugin" : "transport.netty4.Netty4Plugin";
            copy(Path.of(args[3]), describe(modules, version, "transport-netty4", "org.elasticsearch." + transport));
            compile(Path.of(args[4]), describe(modules, version, "words", "WordsPlugin"), home.resolve("classes"));
        }
        final Settings settings = Settings.builder().put("path.home", home).put("cluster.name", "kapis")
                .put("node.name", "kapis").put("discovery.type", "single-node").put("network.host", "127.0.0.1")
                .put("http.port", args[1]).put("transport.port", 0)
                // It would refuse new indices on a disk that is nine tenths full of what others have there.
                .put("cluster.routing.allocation.disk.threshold_enabled", false).build();
        final Path config = Files.createDirectories(home.resolve("config"));
        final Node node = create(
                InternalSettingsPreparer.prepareEnvironment(settings, Map.of(), config, () -> "kapis"), modules);
        node.start();
        Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            try {
                node.close();
            } catch (IOException e) {
                e.printStackTrace();
            }
        }));
        new CountDownLatch(1).await();
    }

    private static Path describe(Path modules, String version, String name, String plugin) throws IOException {
        final Path folder = Files.createDirectories(modules.resolve(name));
        Files.write(folder.resolve("plugin-descriptor.properties"), List.of("name=" + name, "description=" + name,
                "version=" + version, "elasticsearch.version=" + version, "java.version=1.8", "classname=" + plugin));
        return folder;
    }

    private static void copy(Path libraries, Path module) throws IOException {
        try (DirectoryStream<Path> jars = Files.newDirectoryStream(libraries, "{netty,transport-netty4}-*.jar")) {
            for (Path jar : jars) Files.copy(jar, module.resolve(jar.getFileName()));
        }
    }

    private static void compile(Path source, Path module, Path classes) throws IOException {
        Files.createDirectories(classes);
        final int code = ToolProvider.getSystemJavaCompiler().run(null, null, null, "-proc:none", "-cp",
                System.getProperty("java.class.path"), "-d", classes.toString(), source.toString());
        if (code != 0) throw new IllegalStateException(source + " does not compile");
        try (JarOutputStream jar = new JarOutputStream(Files.newOutputStream(module.resolve("words.jar")));
                DirectoryStream<Path> files = Files.newDirectoryStream(classes)) {
            for (Path file : files) {
                jar.putNextEntry(new JarEntry(file.getFileName().toString()));
                jar.write(Files.readAllBytes(file));
            }
        }
    }

    /** Since 8.17 the node is given what loads its modules, which comes in two forms. */
    private static Node create(Environment environment, Path modules) throws ReflectiveOperationException {
        final Constructor<?> constructor = Node.class.getConstructors()[0];
        if (constructor.getParameterCount() == 1) return (Node) constructor.newInstance(environment);
        final Class<?> loader = constructor.getParameterTypes()[1];
        final Method load = Stream.of(loader.getMethods()).filter(m -> m.getName().equals("loadModulesBundles"))
                .findFirst().orElseThrow();
        final Object bundles = load.getParameterCount() == 1 ? load.invoke(null, modules) : load.invoke(null, modules, false);
        final Object plugins = loader.getMethod("createPluginsLoader", Set.class, Set.class, Map.class, boolean.class)
                .invoke(null, bundles, Set.of(), Map.of(), false);
        return (Node) constructor.newInstance(environment, plugins);
    }
}
