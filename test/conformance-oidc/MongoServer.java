import de.bwaldvogel.mongo.backend.memory.MemoryBackend;
import de.bwaldvogel.mongo.bson.Document;
import io.netty.channel.Channel;

/** A server with the protocol of MongoDB on a loopback port, with its data in memory. */
class MongoServer {
  public static void main(String[] args) throws InterruptedException {
    new de.bwaldvogel.mongo.MongoServer(new Backend()).bind("127.0.0.1", Integer.parseInt(args[0]));
    Thread.currentThread().join();
  }

  /** Adds a command that the conformance suite needs and the library does not support. */
  private static final class Backend extends MemoryBackend {
    @Override
    public Document handleCommand(Channel channel, String database, String command, Document query) {
      if (!command.equalsIgnoreCase("getParameter"))
        return super.handleCommand(channel, database, command, query);
      Document version = new Document("version", "6.0");
      return new Document("featureCompatibilityVersion", version).append("ok", 1.0);
    }
  }
}
