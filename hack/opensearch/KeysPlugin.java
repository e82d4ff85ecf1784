import java.util.Map;
import java.util.function.UnaryOperator;
import java.util.regex.Pattern;
import org.apache.lucene.analysis.TokenStream;
import org.apache.lucene.analysis.email.UAX29URLEmailTokenizer;
import org.apache.lucene.analysis.miscellaneous.RemoveDuplicatesTokenFilter;
import org.apache.lucene.analysis.pattern.PatternCaptureGroupTokenFilter;
import org.elasticsearch.index.analysis.TokenFilterFactory;
import org.elasticsearch.index.analysis.TokenizerFactory;
import org.elasticsearch.indices.analysis.AnalysisModule.AnalysisProvider;
import org.elasticsearch.plugins.AnalysisPlugin;
import org.elasticsearch.plugins.Plugin;

/**
 * The parts of Elasticsearch's module analysis-common that the index of its API keys names, which it searches by their owners'
 * addresses. What they do is Lucene's, as in WordsPlugin.java.
 */
public class KeysPlugin extends Plugin implements AnalysisPlugin {
    @Override
    public Map<String, AnalysisProvider<TokenizerFactory>> getTokenizers() {
        return Map.of("uax_url_email", (index, environment, name, settings) ->
                TokenizerFactory.newFactory(name, UAX29URLEmailTokenizer::new));
    }

    @Override
    public Map<String, AnalysisProvider<TokenFilterFactory>> getTokenFilters() {
        return Map.of("unique", (index, environment, name, settings) -> filter(name, RemoveDuplicatesTokenFilter::new),
                "pattern_capture", AnalysisPlugin.requiresAnalysisSettings((index, environment, name, settings) -> {
                    final Pattern[] patterns =
                            settings.getAsList("patterns").stream().map(Pattern::compile).toArray(Pattern[]::new);
                    final boolean keepsOriginal = settings.getAsBoolean("preserve_original", true);
                    return filter(name, tokens -> new PatternCaptureGroupTokenFilter(tokens, keepsOriginal, patterns));
                }));
    }

    private static TokenFilterFactory filter(String name, UnaryOperator<TokenStream> filter) {
        return new TokenFilterFactory() {
            @Override
            public String name() {
                return name;
            }

            @Override
            public TokenStream create(TokenStream tokens) {
                return filter.apply(tokens);
            }
        };
    }
}
