import java.io.IOException;
import java.lang.reflect.Constructor;
import java.lang.reflect.Method;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
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
 * Runs an Elasticsearch node of 7.17 to 9 on loopback until SIGTERM, with the modules that an index of log lines needs. The
 * transport module is a published library, which must not be on the class path. The analysis module is compiled from a source.
 * With the security libraries it only accepts TLS, with http.crt and http.key of FOLDER/config and the users of its file realm.
 * Usage: java -cp LIBRARIES ElasticsearchNode.java FOLDER HTTP-PORT VERSION FOLDER-OF-LIBRARIES WORDS-PLUGIN-SOURCE
 * [FOLDER-OF-SECURITY KEYS-PLUGIN-SOURCE]
 */
public class ElasticsearchNode {
    /** Interfaces that the JVM loads even without logins by SAML. They are compiled here, since Maven Central lacks their library. */
    private static final List<String> SAML = List.of("org.opensaml.core.xml.XMLObject",
            "org.opensaml.saml.saml2.core.RequestAbstractType", "org.opensaml.saml.saml2.core.StatusResponseType");
    private static final String TRANSPORT = "{netty,transport-netty4}-*.jar";

    public static void main(String[] args) throws Exception {
        final Path home = Path.of(args[0]);
        final String version = args[2];
        final boolean is7 = version.startsWith("7.");
        final boolean isSecured = args.length > 5;
        // Version 8 and later require that logging is configured.
        if (!is7) Class.forName("org.elasticsearch.common.logging.LogConfigurator").getMethod("configureESLogging").invoke(null);
        final Path modules = home.resolve("modules");
        if (!Files.exists(modules)) {
            final String transport = is7 ? "transport.Netty4Plugin" : "transport.netty4.Netty4Plugin";
            copy(Path.of(args[3]), TRANSPORT, describe(modules, version, "transport-netty4", "org.elasticsearch." + transport));
            final String words = isSecured ? "KeysPlugin" : "WordsPlugin";
            final Stream<String> sources = Stream.of(args).skip(4).filter(arg -> arg.endsWith(".java"));
            compile(sources.map(Path::of).toList(), describe(modules, version, "words", words));
            if (isSecured) secure(modules, version, Path.of(args[3]), Path.of(args[5]));
        }
        final Settings.Builder settings = Settings.builder().put("path.home", home).put("cluster.name", "kapis")
                .put("node.name", "kapis").put("discovery.type", "single-node").put("network.host", "127.0.0.1")
                .put("http.port", args[1]).put("transport.port", 0)
                // Disabled: it rejects new indices if the disk is 90 % full, with files of any program.
                .put("cluster.routing.allocation.disk.threshold_enabled", false);
        if (isSecured) {
            settings.put("xpack.security.enabled", true).put("xpack.security.http.ssl.enabled", true)
                    .put("xpack.security.http.ssl.certificate", "http.crt").put("xpack.security.http.ssl.key", "http.key");
        }
        final Path config = Files.createDirectories(home.resolve("config"));
        final Node node = create(
                InternalSettingsPreparer.prepareEnvironment(settings.build(), Map.of(), config, () -> "kapis"), modules);
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

    private static void secure(Path modules, String version, Path libraries, Path security) throws IOException {
        final String xpack = "org.elasticsearch.xpack.";
        copy(security, "{[!x],x-pack-core}*.jar", describe(modules, version, "x-pack-core", xpack + "core.XPackPlugin"));
        final Path module = describe(modules, version, "x-pack-security", xpack + "security.Security",
                "extended.plugins=x-pack-core");
        copy(security, "x-pack-security-*.jar", module);
        // Its transport extends the transport module, so it needs a copy of those classes.
        copy(libraries, TRANSPORT, module);
        final Path sources = Files.createTempDirectory(modules.getParent(), "saml");
        final List<Path> interfaces = new ArrayList<>();
        for (String name : SAML) {
            final int dot = name.lastIndexOf('.');
            final Path source = sources.resolve(name.substring(dot + 1) + ".java");
            interfaces.add(Files.writeString(source, "package " + name.substring(0, dot) + "; public interface "
                    + name.substring(dot + 1) + " {}"));
        }
        compile(interfaces, module);
    }

    private static Path describe(Path modules, String version, String name, String plugin, String... more)
            throws IOException {
        final Path folder = Files.createDirectories(modules.resolve(name));
        final List<String> lines = new ArrayList<>(List.of("name=" + name, "description=" + name, "version=" + version,
                "elasticsearch.version=" + version, "java.version=1.8", "classname=" + plugin));
        lines.addAll(List.of(more));
        Files.write(folder.resolve("plugin-descriptor.properties"), lines);
        return folder;
    }

    private static void copy(Path libraries, String which, Path module) throws IOException {
        try (DirectoryStream<Path> jars = Files.newDirectoryStream(libraries, which)) {
            for (Path jar : jars) Files.copy(jar, module.resolve(jar.getFileName()));
        }
    }

    private static void compile(List<Path> sources, Path module) throws IOException {
        final Path classes = Files.createTempDirectory(module.getParent().getParent(), "classes");
        final List<String> args = new ArrayList<>(List.of("-proc:none", "-cp", System.getProperty("java.class.path"), "-d",
                classes.toString()));
        for (Path source : sources) args.add(source.toString());
        final int code = ToolProvider.getSystemJavaCompiler().run(null, null, null, args.toArray(String[]::new));
        if (code != 0) throw new IllegalStateException(sources + " does not compile");
        try (JarOutputStream jar = new JarOutputStream(Files.newOutputStream(module.resolve("compiled.jar")));
                Stream<Path> files = Files.walk(classes)) {
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                jar.putNextEntry(new JarEntry(classes.relativize(file).toString()));
                jar.write(Files.readAllBytes(file));
            }
        }
    }

    /** Creates the node. Since 8.17 its constructor requires a plugins loader, which has two forms. */
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
