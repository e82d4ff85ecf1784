import java.util.HashMap;
import java.util.Map;
import java.util.regex.Pattern;
import org.apache.lucene.analysis.email.UAX29URLEmailTokenizer;
import org.apache.lucene.analysis.miscellaneous.RemoveDuplicatesTokenFilter;
import org.apache.lucene.analysis.pattern.PatternCaptureGroupTokenFilter;
import org.elasticsearch.index.analysis.TokenFilterFactory;
import org.elasticsearch.index.analysis.TokenizerFactory;
import org.elasticsearch.indices.analysis.AnalysisModule.AnalysisProvider;
import org.elasticsearch.plugins.AnalysisPlugin;

/** Adds the analysis components that the index of API keys in Elasticsearch refers to. */
public class KeysPlugin extends WordsPlugin {
    @Override
    public Map<String, AnalysisProvider<TokenizerFactory>> getTokenizers() {
        final Map<String, AnalysisProvider<TokenizerFactory>> all = new HashMap<>(super.getTokenizers());
        all.put("uax_url_email", (index, environment, name, settings) ->
                TokenizerFactory.newFactory(name, UAX29URLEmailTokenizer::new));
        return all;
    }

    @Override
    public Map<String, AnalysisProvider<TokenFilterFactory>> getTokenFilters() {
        final Map<String, AnalysisProvider<TokenFilterFactory>> all = new HashMap<>(super.getTokenFilters());
        all.put("unique", (index, environment, name, settings) -> filter(name, RemoveDuplicatesTokenFilter::new));
        all.put("pattern_capture", AnalysisPlugin.requiresAnalysisSettings((index, environment, name, settings) -> {
            final Pattern[] patterns =
                    settings.getAsList("patterns").stream().map(Pattern::compile).toArray(Pattern[]::new);
            final boolean keepsOriginal = settings.getAsBoolean("preserve_original", true);
            return filter(name, tokens -> new PatternCaptureGroupTokenFilter(tokens, keepsOriginal, patterns));
        }));
        return all;
    }
}
