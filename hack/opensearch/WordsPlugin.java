import java.util.Map;
import java.util.function.UnaryOperator;
import java.util.regex.Pattern;
import org.apache.lucene.analysis.TokenStream;
import org.apache.lucene.analysis.miscellaneous.TruncateTokenFilter;
import org.apache.lucene.analysis.pattern.PatternTokenizer;
import org.elasticsearch.index.analysis.TokenFilterFactory;
import org.elasticsearch.index.analysis.TokenizerFactory;
import org.elasticsearch.indices.analysis.AnalysisModule.AnalysisProvider;
import org.elasticsearch.plugins.AnalysisPlugin;
import org.elasticsearch.plugins.Plugin;

/**
 * The two components of the module analysis-common of Elasticsearch that the index template of Kapis refers to. That module is
 * only published in complete distributions. The components use Lucene, which is part of the libraries of the server.
 */
public class WordsPlugin extends Plugin implements AnalysisPlugin {
    @Override
    public Map<String, AnalysisProvider<TokenizerFactory>> getTokenizers() {
        return Map.of("pattern", AnalysisPlugin.requiresAnalysisSettings((index, environment, name, settings) -> {
            final Pattern pattern = Pattern.compile(settings.get("pattern"));
            final int group = settings.getAsInt("group", -1);
            return TokenizerFactory.newFactory(name, () -> new PatternTokenizer(pattern, group));
        }));
    }

    @Override
    public Map<String, AnalysisProvider<TokenFilterFactory>> getTokenFilters() {
        return Map.of("truncate", AnalysisPlugin.requiresAnalysisSettings((index, environment, name, settings) -> {
            final int length = settings.getAsInt("length", -1);
            return filter(name, tokens -> new TruncateTokenFilter(tokens, length));
        }));
    }

    static TokenFilterFactory filter(String name, UnaryOperator<TokenStream> filter) {
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
