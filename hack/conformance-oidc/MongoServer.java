import de.bwaldvogel.mongo.backend.memory.MemoryBackend;
import de.bwaldvogel.mongo.bson.Document;
import io.netty.channel.Channel;

/** A server with MongoDB's protocol on a loopback port, whose data is gone with the process. */
class MongoServer {
  public static void main(String[] args) throws InterruptedException {
    new de.bwaldvogel.mongo.MongoServer(new Backend()).bind("127.0.0.1", Integer.parseInt(args[0]));
    Thread.currentThread().join();
  }

  /** Knows the one command that the conformance suite needs and the library does not have. */
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
